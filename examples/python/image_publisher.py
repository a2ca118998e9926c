"""Publishes images, written with numpy where they are published: image_publisher.py [COUNT]"""

import sys

import sinew
from sinew.interfaces.sensor_msgs.msg import Image

WIDTH, HEIGHT = 1280, 720


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with sinew.init(), sinew.Node("camera") as node:
        publisher = node.create_publisher(Image, "image", 10)
        publisher.wait_for_subscriptions(1)  # else the first images would have no receiver
        for number in range(count):
            # A number in the place of a sequence is its length: `draft.data` is shared memory.
            with publisher.draft(
                width=WIDTH, height=HEIGHT, step=WIDTH * 3, encoding="rgb8", data=WIDTH * HEIGHT * 3
            ) as draft:
                pixels = draft.data.reshape(HEIGHT, WIDTH, 3)
                pixels[:] = (number % 256, 128, 255)
                del pixels  # a published message never changes, so no array of it may be left
        publisher.wait_for_all_acked(5)


if __name__ == "__main__":
    main()
