"""tf: buffers, listeners, broadcasters."""

import threading
import unittest

import sinew
from sinew.interfaces.geometry_msgs.msg import PointStamped, PoseStamped, TransformStamped, Twist, Vector3Stamped
from sinew.tf import (
    Buffer,
    ConnectivityException,
    ExtrapolationException,
    InvalidArgumentException,
    LookupException,
    StaticTransformBroadcaster,
    TransformBroadcaster,
    TransformException,
    TransformListener,
    do_transform,
)
from support import PATIENCE, SinewTest, finish, program

LATEST = sinew.Time()


def placed(parent, child, x=0.0, second=0, quarter=False):
    """Returns the pose of a frame: x m ahead, and perhaps turned by a quarter to the left."""
    transform = TransformStamped(child_frame_id=child)
    transform.header.frame_id = parent
    transform.header.stamp.sec = second
    transform.transform.translation.x = x
    if quarter:
        transform.transform.rotation.z = transform.transform.rotation.w = 0.5**0.5
    return transform


def at(second):
    return sinew.Time(seconds=second)


class Buffers(unittest.TestCase):
    def setUp(self):
        self.buffer = Buffer()
        self.buffer.set_transform(placed("odom", "base", 1.0, 10), "odometry")
        self.buffer.set_transform(placed("odom", "base", 3.0, 11), "odometry")
        self.buffer.set_transform_static(placed("base", "lidar", 0.5, quarter=True), "description")

    def x(self, *arguments):
        return self.buffer.lookup_transform(*arguments).transform.translation.x

    def test_lookups(self):
        found = self.buffer.lookup_transform("odom", "lidar", LATEST)
        self.assertEqual((found.header.frame_id, found.child_frame_id, found.header.stamp.sec), ("odom", "lidar", 11))
        self.assertEqual(found.transform.translation.x, 3.5)
        self.assertEqual(self.x("odom", "base", at(10.5)), 2.0)
        self.assertEqual(self.x("odom", "base", at(10.5).to_msg()), 2.0)
        moved = self.buffer.lookup_transform_full("base", at(11), "base", at(10), "odom")
        self.assertEqual(moved.transform.translation.x, -2.0)
        self.assertTrue(self.buffer.can_transform("odom", "lidar", LATEST))
        self.assertTrue(self.buffer.can_transform_full("base", at(11), "base", at(10), "odom"))

    def test_errors(self):
        buffer = self.buffer
        with self.assertRaisesRegex(LookupException, '"lidarr".*did you mean "lidar"'):
            buffer.lookup_transform("odom", "lidarr", LATEST)
        with self.assertRaises(ExtrapolationException):
            buffer.lookup_transform("odom", "base", at(12))
        buffer.set_transform_static(placed("map", "shelf"), "description")
        with self.assertRaises(ConnectivityException):
            buffer.lookup_transform("map", "odom", LATEST)
        with self.assertRaises(InvalidArgumentException):
            buffer.set_transform(placed("a", "a"), "test")
        with self.assertRaisesRegex(TypeError, "TransformStamped"):
            buffer.set_transform(PoseStamped(), "test")
        with self.assertRaisesRegex(TypeError, "Time, not 0"):
            buffer.lookup_transform("odom", "base", 0)
        with self.assertRaisesRegex(TypeError, "not 5"):
            do_transform(5, placed("a", "b"))
        for wrong in (-1, sinew.Duration(seconds=-1)):
            with self.assertRaisesRegex(ValueError, "positive Duration"):
                Buffer(wrong)
        self.assertTrue(issubclass(LookupException, TransformException))
        self.assertFalse(buffer.can_transform("odom", "base", at(12), sinew.Duration(nanoseconds=1)))
        can, why = buffer.can_transform("odom", "base", at(12), return_debug_tuple=True)
        self.assertFalse(can)
        self.assertIn("1000 ms behind", why)

    def test_messages(self):
        point = PointStamped()
        point.header.frame_id = "lidar"
        point.header.stamp.sec = 10
        point.point.x = 2.0
        moved = self.buffer.transform(point, "odom")
        self.assertEqual(moved.header.frame_id, "odom")
        self.assertAlmostEqual(moved.point.x, 1.5)
        self.assertAlmostEqual(moved.point.y, 2.0)
        vector = Vector3Stamped(header=point.header)
        vector.vector.x = 2.0
        moved = self.buffer.transform(vector, "odom")
        self.assertAlmostEqual(moved.vector.y, 2.0)
        pose = PoseStamped(header=point.header)
        moved = do_transform(pose, placed("map", "lidar", 7.0))
        self.assertEqual((moved.header.frame_id, moved.pose.position.x), ("map", 7.0))
        with self.assertRaisesRegex(TypeError, "PoseStamped"):
            do_transform(Twist(), placed("map", "lidar"))

    def test_frames(self):
        self.assertEqual(sorted(self.buffer.get_frame_strings()), ["base", "lidar", "odom"])
        self.assertIn("Frame lidar exists with parent base.", self.buffer.all_frames_as_string())
        self.assertIn("base:\n  parent: 'odom'\n  broadcaster: 'odometry'\n  rate: 1.000\n", self.buffer.all_frames_as_yaml())
        self.buffer.clear()
        self.assertFalse(self.buffer.can_transform("odom", "base", at(10)))
        self.assertTrue(self.buffer.can_transform("base", "lidar", LATEST))

    def test_waits(self):
        found = []
        waiting = threading.Thread(target=lambda: found.append(self.x("odom", "base", at(12), PATIENCE)))
        waiting.start()
        future = self.buffer.wait_for_transform_async("odom", "base", at(12))
        given_up = self.buffer.wait_for_transform_async("odom", "base", at(12))
        never = self.buffer.wait_for_transform_async("odom", "base", at(1))
        self.assertFalse(future.done())
        self.assertTrue(given_up.cancel())
        self.buffer.set_transform(placed("odom", "base", 5.0, 12), "odometry")
        waiting.join()
        self.assertEqual(found, [5.0])
        self.assertTrue(future.result())
        self.buffer.set_transform(placed("odom", "base", 5.0, 30), "odometry")
        with self.assertRaises(ExtrapolationException):
            never.result()
        with self.assertRaises(ExtrapolationException):  # at once: the past doesn't come
            self.buffer.lookup_transform("odom", "base", at(1), timeout=10 * PATIENCE)


class Topics(SinewTest):
    def test_a_callback_waits(self):
        buffer, done = Buffer(), sinew.Future()
        listener = TransformListener(buffer, self.node)
        static = StaticTransformBroadcaster(self.node)
        static.sendTransform(placed("base", "lidar", 0.5))
        static.sendTransform([placed("base", "camera", 0.25)])
        child = program("""
    from sinew.interfaces.geometry_msgs.msg import TransformStamped
    from sinew.tf import TransformBroadcaster
    sinew.init([])
    with sinew.Node("odometry") as node:
        broadcaster = TransformBroadcaster(node)
        transform = TransformStamped(child_frame_id="base")
        transform.header.frame_id = "odom"
        sys.stdin.readline()
        transform.transform.translation.x = 2.0
        broadcaster.sendTransform(transform)
        sys.stdin.readline()
    """)

        def tick():
            timer.cancel()
            child.stdin.write("\n")
            child.stdin.flush()
            done.set_result(buffer.lookup_transform("odom", "lidar", LATEST, timeout=PATIENCE))

        timer = self.node.create_timer(0.001, tick)
        self.executor.spin_until_future_complete(done, PATIENCE)
        self.assertEqual(done.result().transform.translation.x, 2.5)
        self.assertEqual(finish(child)[0], 0)
        task = self.executor.create_task(buffer.lookup_transform_async("odom", "camera", LATEST))
        self.executor.spin_until_future_complete(task, PATIENCE)
        self.assertEqual(task.result().transform.translation.x, 2.25)
        with listener:
            pass
        with TransformBroadcaster(self.node) as broadcaster:
            broadcaster.sendTransform(placed("odom", "base", 9.0, 99))
            self.assertEqual(buffer.lookup_transform("odom", "base", LATEST).transform.translation.x, 2.0)
            with self.assertRaises(TypeError):
                broadcaster.sendTransform(PoseStamped())
        with self.assertRaises(sinew.InvalidHandle):
            broadcaster.sendTransform(placed("odom", "base"))


if __name__ == "__main__":
    unittest.main()
