"""Publishes by a timer with a local function."""

import rclpy
from rclpy.executors import ExternalShutdownException
from std_msgs.msg import String


def main(args=None):
    rclpy.init(args=args)
    node = rclpy.create_node('minimal_publisher')
    publisher = node.create_publisher(String, 'topic', 10)
    msg = String()
    i = 0

    def timer_callback():
        nonlocal i
        msg.data = f'Hello World: {i}'
        i += 1
        node.get_logger().info(f'Publishing: "{msg.data}"')
        publisher.publish(msg)

    timer = node.create_timer(0.05, timer_callback)
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        node.destroy_timer(timer)
        node.destroy_node()
        rclpy.try_shutdown()


if __name__ == '__main__':
    main()
