"""Receives with a method of a node, with QoS events."""

import rclpy
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from std_msgs.msg import String


class MinimalSubscriber(Node):

    def __init__(self):
        super().__init__('minimal_subscriber')
        callbacks = SubscriptionEventCallbacks(matched=self.matched_callback)
        self.subscription = self.create_subscription(
            String, 'topic', self.listener_callback, qos_profile_sensor_data, event_callbacks=callbacks)

    def listener_callback(self, msg):
        self.get_logger().info('I heard: "%s"' % msg.data)

    def matched_callback(self, info):
        self.get_logger().info('Publishers: %d' % info.current_count)


def main(args=None):
    try:
        with rclpy.init(args=args):
            rclpy.spin(MinimalSubscriber())
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == '__main__':
    main()
