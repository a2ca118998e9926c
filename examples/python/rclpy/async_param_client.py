"""Reads and sets the parameters of another node."""

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.parameter_client import AsyncParameterClient


class AsyncParamClient(Node):

    def __init__(self):
        super().__init__('async_param_client')
        self.client = AsyncParameterClient(self, 'parameter_blackboard')

    async def execute(self):
        log = self.get_logger().info
        names = (await self.client.list_parameters(['robot'], 10)).result.names
        log(f'names: {sorted(names)}')
        response = await self.client.get_parameters(['robot.wheels'])
        log(f'wheels: {parameter_value_to_python(response.values[0])}')
        response = await self.client.set_parameters([
            Parameter('robot.wheels', Parameter.Type.INTEGER, 6).to_parameter_msg(),
            Parameter('robot.name', Parameter.Type.DOUBLE, 0.5).to_parameter_msg(),
        ])
        for result in response.results:
            log(f'set: {result.successful}')


def main(args=None):
    with rclpy.init(args=args):
        blackboard = rclpy.create_node('parameter_blackboard')
        blackboard.declare_parameter('robot.wheels', 4)
        blackboard.declare_parameter('robot.name', 'ada')
        node = AsyncParamClient()
        executor = SingleThreadedExecutor()
        executor.add_node(blackboard)
        executor.add_node(node)
        task = executor.create_task(node.execute)
        executor.spin_until_future_complete(task)
        node.get_logger().info(f"now: {blackboard.get_parameter('robot.wheels').value}")
        executor.shutdown()


if __name__ == '__main__':
    main()
