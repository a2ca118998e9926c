"""Receives with a function, in a loop of spin_once."""

import rclpy
from rclpy.executors import ExternalShutdownException
from std_msgs.msg import String

logger = None


def chatter_callback(msg):
    logger.info('I heard: "%s"' % msg.data)


def main(args=None):
    global logger
    rclpy.init(args=args)
    node = rclpy.create_node('minimal_subscriber')
    logger = node.get_logger()
    subscription = node.create_subscription(String, 'topic', chatter_callback, 10)
    subscription  # prevent unused variable warning
    try:
        while rclpy.ok():
            rclpy.spin_once(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == '__main__':
    main()
