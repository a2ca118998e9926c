"""Prints the lines of the talker, until Ctrl-C."""

import sinew
from sinew.interfaces.std_msgs.msg import String


def main() -> None:
    with sinew.init(), sinew.Node("listener") as node:

        def hear(message: String) -> None:
            print(f"I heard: {message.data!r}", flush=True)

        node.create_subscription(String, "chatter", hear, 10)
        try:
            sinew.spin(node)
        except (KeyboardInterrupt, sinew.ExternalShutdownException):
            pass


if __name__ == "__main__":
    main()
