"""Calls a service in a callback that is a coroutine."""

from example_interfaces.srv import AddTwoInts
import rclpy
from rclpy.callback_groups import ReentrantCallbackGroup


def main(args=None):
    with rclpy.init(args=args):
        node = rclpy.create_node('minimal_client')
        cb_group = ReentrantCallbackGroup()
        cli = node.create_client(AddTwoInts, 'add_two_ints', callback_group=cb_group)
        did_run = False
        did_get_result = False

        async def call_service():
            nonlocal did_run, did_get_result
            did_run = True
            try:
                req = AddTwoInts.Request()
                req.a = 41
                req.b = 1
                result = await cli.call_async(req)
                node.get_logger().info('Result of add_two_ints: %d' % result.sum)
            finally:
                did_get_result = True

        while not cli.wait_for_service(timeout_sec=1.0):
            node.get_logger().info('service not available, waiting again...')
        timer = node.create_timer(0.05, call_service, callback_group=cb_group)
        while rclpy.ok() and not did_run:
            rclpy.spin_once(node)
        if did_run:
            timer.cancel()
        while rclpy.ok() and not did_get_result:
            rclpy.spin_once(node)


if __name__ == '__main__':
    main()
