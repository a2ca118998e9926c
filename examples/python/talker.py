"""Publishes a line twice a second, until Ctrl-C or for a number of lines: talker.py [COUNT]"""

import sys

import sinew
from sinew.interfaces.std_msgs.msg import String


class Talker(sinew.Node):
    def __init__(self, lines: int) -> None:
        super().__init__("talker")
        self.lines = lines
        self.said = 0
        self.done = sinew.Future()
        self.publisher = self.create_publisher(String, "chatter", 10)
        self.timer = self.create_timer(0.5, self.speak)

    def speak(self) -> None:
        self.said += 1
        message = String(data=f"Hello World: {self.said}")
        self.get_logger().info(f"Publishing: {message.data!r}")
        self.publisher.publish(message)
        if self.said == self.lines:
            self.done.set_result(None)


def main() -> None:
    with sinew.init(), Talker(int(sys.argv[1]) if len(sys.argv) > 1 else 0) as node:
        try:
            sinew.spin_until_future_complete(node, node.done)
        except (KeyboardInterrupt, sinew.ExternalShutdownException):
            pass  # Ctrl-C and SIGTERM are how it ends


if __name__ == "__main__":
    main()
