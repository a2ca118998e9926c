"""Receives messages as bytes."""

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from std_msgs.msg import String


class SerializedSubscriber(Node):

    def __init__(self):
        super().__init__('serialized_subscriber')
        self.subscription = self.create_subscription(
            String, 'topic', self.listener_callback, 10, raw=True)

    def listener_callback(self, msg):
        self.get_logger().info('I heard: %d bytes: "%s"' % (len(msg), deserialize_message(msg, String).data))


def main(args=None):
    try:
        with rclpy.init(args=args):
            rclpy.spin(SerializedSubscriber())
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == '__main__':
    main()
