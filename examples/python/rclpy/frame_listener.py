"""Broadcasts a fixed frame and a moving one, and looks one up from the other."""

from geometry_msgs.msg import TransformStamped
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from tf2_ros import TransformException
from tf2_ros.buffer import Buffer
from tf2_ros.static_transform_broadcaster import StaticTransformBroadcaster
from tf2_ros.transform_broadcaster import TransformBroadcaster
from tf2_ros.transform_listener import TransformListener


class FrameListener(Node):

    def __init__(self):
        super().__init__('frame_listener')
        self.tf_buffer = Buffer()
        self.tf_listener = TransformListener(self.tf_buffer, self)
        self.static_broadcaster = StaticTransformBroadcaster(self)
        self.static_broadcaster.sendTransform(self.placed('turtle', 'carrot', 0.5))
        self.broadcaster = TransformBroadcaster(self)
        self.timer = self.create_timer(0.05, self.on_timer)
        self.i = 0

    def placed(self, parent, child, x):
        t = TransformStamped()
        t.header.stamp = self.get_clock().now().to_msg()
        t.header.frame_id = parent
        t.child_frame_id = child
        t.transform.translation.x = x
        return t

    def on_timer(self):
        try:
            t = self.tf_buffer.lookup_transform('world', 'carrot', rclpy.time.Time())
            self.get_logger().info(f'carrot at {t.transform.translation.x}')
        except TransformException as ex:
            self.get_logger().info(f'Could not transform: {ex}')
        self.i += 1
        self.broadcaster.sendTransform(self.placed('world', 'turtle', float(self.i)))


def main(args=None):
    try:
        with rclpy.init(args=args):
            rclpy.spin(FrameListener())
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == '__main__':
    main()
