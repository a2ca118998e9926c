"""Sends a Fibonacci goal, and cancels it a little later."""

from action_msgs.msg import GoalStatus
from example_interfaces.action import Fibonacci
import rclpy
from rclpy.action import ActionClient
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node


class MinimalActionClient(Node):

    def __init__(self):
        super().__init__('minimal_action_client')
        self._action_client = ActionClient(self, Fibonacci, 'fibonacci')

    def send_goal(self):
        self._action_client.wait_for_server()
        goal_msg = Fibonacci.Goal()
        goal_msg.order = 30
        self._send_goal_future = self._action_client.send_goal_async(
            goal_msg, feedback_callback=self.feedback_callback)
        self._send_goal_future.add_done_callback(self.goal_response_callback)

    def goal_response_callback(self, future):
        goal_handle = future.result()
        if not goal_handle.accepted:
            self.get_logger().info('Goal rejected :(')
            return
        self._goal_handle = goal_handle
        self.get_logger().info('Goal accepted :)')
        goal_handle.get_result_async().add_done_callback(self.get_result_callback)
        self._timer = self.create_timer(0.15, self.timer_callback)

    def feedback_callback(self, feedback):
        self.get_logger().info('Received feedback: {0}'.format(feedback.feedback.sequence.tolist()))

    def timer_callback(self):
        self.get_logger().info('Canceling goal')
        self._goal_handle.cancel_goal_async().add_done_callback(self.cancel_done)
        self._timer.cancel()

    def cancel_done(self, future):
        if len(future.result().goals_canceling) > 0:
            self.get_logger().info('Goal successfully canceled')
        else:
            self.get_logger().info('Goal failed to cancel')

    def get_result_callback(self, future):
        status = future.result().status
        self.get_logger().info('Canceled: %s' % (status == GoalStatus.STATUS_CANCELED))
        rclpy.shutdown()


def main(args=None):
    try:
        with rclpy.init(args=args):
            action_client = MinimalActionClient()
            action_client.send_goal()
            rclpy.spin(action_client)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == '__main__':
    main()
