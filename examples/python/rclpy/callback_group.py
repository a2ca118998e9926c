"""Callbacks of one group never run at once, also with several threads."""

import threading

import rclpy
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String


class DoubleTalker(Node):

    def __init__(self):
        super().__init__('double_talker')
        self.i = 0
        self.inside = threading.Lock()
        self.pub = self.create_publisher(String, 'chatter', 10)
        self.group = MutuallyExclusiveCallbackGroup()
        self.timer = self.create_timer(0.02, self.timer_callback, callback_group=self.group)
        self.timer2 = self.create_timer(0.01, self.timer_callback, callback_group=self.group)

    def timer_callback(self):
        assert self.inside.acquire(blocking=False)
        msg = String()
        msg.data = 'Hello World: {0}'.format(self.i)
        self.i += 1
        self.get_logger().info('Publishing: "{0}"'.format(msg.data))
        self.pub.publish(msg)
        self.inside.release()


def main(args=None):
    rclpy.init(args=args)
    talker = DoubleTalker()
    executor = MultiThreadedExecutor(num_threads=4)
    executor.add_node(talker)
    try:
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        executor.shutdown()
        talker.destroy_node()


if __name__ == '__main__':
    main()
