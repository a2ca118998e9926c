"""Asks the server for a sum: add_two_ints_client.py A B"""

import sys

import sinew
from sinew.interfaces.example_interfaces.srv import AddTwoInts


def main() -> None:
    a, b = map(int, sys.argv[1:3])
    with sinew.init(), sinew.Node("add_two_ints_client") as node:
        client = node.create_client(AddTwoInts, "add_two_ints")
        if not client.wait_for_service(timeout_sec=10):
            sys.exit("there is no server of add_two_ints")
        # Blocks this thread. `call_async` returns a future instead.
        response = client.call(AddTwoInts.Request(a=a, b=b), timeout_sec=10)
        print(f"{a} + {b} = {response.sum}")


if __name__ == "__main__":
    main()
