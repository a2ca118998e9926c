"""Declares parameters, and refuses some values."""

from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor, SetParametersResult
import rclpy
from rclpy.exceptions import ParameterNotDeclaredException
from rclpy.node import Node
from rclpy.parameter import Parameter


class Parameters(Node):

    def __init__(self):
        super().__init__('parameters', parameter_overrides=[
            Parameter('frame', Parameter.Type.STRING, 'base_link')])
        span = FloatingPointRange(from_value=0.0, to_value=2.0)
        about = ParameterDescriptor(description='in m/s', floating_point_range=[span])
        self.declare_parameter('speed', 1.0, about)
        self.declare_parameters('', [('frame', 'map'), ('sizes', [1, 2, 3])])
        self.add_on_set_parameters_callback(self.check)

    def check(self, parameters):
        for parameter in parameters:
            if parameter.name == 'frame' and parameter.type_ != Parameter.Type.STRING:
                return SetParametersResult(successful=False, reason='a frame is a text')
            if parameter.name == 'frame' and not parameter.value:
                return SetParametersResult(successful=False, reason='a frame has a name')
        return SetParametersResult(successful=True)


def main(args=None):
    with rclpy.init(args=args):
        node = Parameters()
        log = node.get_logger().info
        log('frame: %s' % node.get_parameter('frame').value)
        log('speed: %s' % node.get_parameter('speed').get_parameter_value().double_value)
        for parameter in [Parameter('speed', value=0.5), Parameter('speed', value=9.0), Parameter('frame', value='')]:
            log('%s set: %s' % (parameter.name, node.set_parameters([parameter])[0].successful))
        log('%s' % sorted(set(node.list_parameters([], 0).names) & {'frame', 'sizes', 'speed'}))
        try:
            node.get_parameter('other')
        except ParameterNotDeclaredException:
            log('other is not declared')


if __name__ == '__main__':
    main()
