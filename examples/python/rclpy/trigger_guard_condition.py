"""Triggers a guard condition from another thread."""

import threading

import rclpy


def main(args=None):
    with rclpy.init(args=args):
        node = rclpy.create_node('trigger_guard_condition')
        executor = rclpy.get_global_executor()
        executor.add_node(node)
        done = threading.Event()

        def guard_condition_callback():
            node.get_logger().info('Guard condition callback called')
            done.set()

        guard_condition = node.create_guard_condition(guard_condition_callback)
        threading.Timer(0.05, guard_condition.trigger).start()
        while not done.is_set():
            executor.spin_once(timeout_sec=1)
        node.destroy_guard_condition(guard_condition)


if __name__ == '__main__':
    main()
