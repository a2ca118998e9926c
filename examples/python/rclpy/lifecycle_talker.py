"""A managed node that publishes while it is active."""

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.lifecycle import Node, Publisher, State, TransitionCallbackReturn
from rclpy.timer import Timer
import std_msgs.msg


class LifecycleTalker(Node):

    def __init__(self, node_name, **kwargs):
        self._count: int = 0
        self._pub: Publisher | None = None
        self._timer: Timer | None = None
        super().__init__(node_name, **kwargs)

    def publish(self):
        msg = std_msgs.msg.String()
        msg.data = 'Lifecycle HelloWorld #' + str(self._count)
        self._count += 1
        if self._pub is None or not self._pub.is_activated:
            self.get_logger().info('Lifecycle publisher is inactive. Messages are not published.', once=True)
        else:
            self.get_logger().info(f'Lifecycle publisher is active. Publishing: [{msg.data}]')
        if self._pub is not None:
            self._pub.publish(msg)

    def on_configure(self, state: State) -> TransitionCallbackReturn:
        self._pub = self.create_lifecycle_publisher(std_msgs.msg.String, 'lifecycle_chatter', 10)
        self._timer = self.create_timer(0.05, self.publish)
        self.get_logger().info('on_configure() is called.')
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: State) -> TransitionCallbackReturn:
        self.get_logger().info('on_activate() is called.')
        return super().on_activate(state)

    def on_deactivate(self, state: State) -> TransitionCallbackReturn:
        self.get_logger().info('on_deactivate() is called.')
        return super().on_deactivate(state)

    def on_cleanup(self, state: State) -> TransitionCallbackReturn:
        self.destroy_timer(self._timer)
        self.destroy_publisher(self._pub)
        self.get_logger().info('on_cleanup() is called.')
        return TransitionCallbackReturn.SUCCESS


def main(args=None):
    try:
        with rclpy.init(args=args):
            executor = SingleThreadedExecutor()
            executor.add_node(LifecycleTalker('lc_talker'))
            executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == '__main__':
    main()
