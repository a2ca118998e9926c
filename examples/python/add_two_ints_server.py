"""Adds two integers, until Ctrl-C."""

import sinew
from sinew.interfaces.example_interfaces.srv import AddTwoInts


def add(request: AddTwoInts.Request, response: AddTwoInts.Response) -> AddTwoInts.Response:
    response.sum = request.a + request.b
    return response


def main() -> None:
    with sinew.init(), sinew.Node("add_two_ints_server") as node:
        node.create_service(AddTwoInts, "add_two_ints", add)
        try:
            sinew.spin(node)
        except (KeyboardInterrupt, sinew.ExternalShutdownException):
            pass


if __name__ == "__main__":
    main()
