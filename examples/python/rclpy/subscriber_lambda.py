"""Receives with a lambda."""

import rclpy
from rclpy.executors import ExternalShutdownException
from std_msgs.msg import String


def main(args=None):
    try:
        with rclpy.init(args=args):
            node = rclpy.create_node('minimal_subscriber')
            node.create_subscription(
                String, 'topic', lambda msg: node.get_logger().info('I heard: "%s"' % msg.data), 10)
            rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == '__main__':
    main()
