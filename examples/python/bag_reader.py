"""Prints the topics and the first messages of a bag: bag_reader.py BAG [COUNT]"""

import itertools
import sys

from sinew.bag import Reader
from sinew.convert import to_dict


def main() -> None:
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with Reader(sys.argv[1]) as bag:
        for one in bag.topics:
            print(f"{one.name}: {one.message_count} of {one.type_name}")
        for topic, message, stamp in itertools.islice(bag, count):
            print(stamp, topic, to_dict(message))


if __name__ == "__main__":
    main()
