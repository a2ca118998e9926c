"""Publishes in a loop of its own, without timers and executors."""

from time import sleep

import rclpy
from rclpy.executors import ExternalShutdownException
from std_msgs.msg import String


def main(args=None):
    try:
        with rclpy.init(args=args):
            node = rclpy.create_node('minimal_publisher')
            publisher = node.create_publisher(String, 'topic', 10)
            msg = String()
            i = 0
            while rclpy.ok():
                msg.data = 'Hello World: %d' % i
                i += 1
                node.get_logger().info('Publishing: "%s"' % msg.data)
                publisher.publish(msg)
                sleep(0.05)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == '__main__':
    main()
