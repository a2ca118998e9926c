"""Arrays of received messages: where their bytes lie, and for how long."""

import gc
import os
import sys
import unittest

import sinew
from sinew import _sinew
from sinew.interfaces.geometry_msgs.msg import PoseWithCovariance
from sinew.interfaces.sensor_msgs.msg import Image, LaserScan, PointCloud2, PointField
from sinew.interfaces.std_msgs.msg import Float64MultiArray
from sinew.interfaces.test_msgs.msg import BoundedPlainSequences
from sinew.serialization import deserialize_message, serialize_message

try:
    import numpy
except ImportError:
    numpy = None
    print("SKIPPED: tests of numpy's arrays: it is not installed", file=sys.stderr)

NO_NUMPY = "numpy is not installed"


def received(message):
    return deserialize_message(serialize_message(message), type(message))


class Views(unittest.TestCase):
    def test_any_array_has_a_buffer(self):
        scan = received(LaserScan(ranges=[1.5, 2.5], intensities=[]))
        view = memoryview(scan.ranges)
        self.assertEqual((view.format, view.nbytes, view.readonly), ("f", 8, True))
        self.assertEqual(view.tolist(), [1.5, 2.5])
        self.assertEqual(len(scan.intensities), 0)
        self.assertIs(scan.ranges, scan.ranges)

    def test_without_numpy(self):
        """As in a Python without numpy: in an interpreter of its own, since the choice is made once."""
        import subprocess

        program = (
            "import sys; sys.modules['numpy'] = None\n"
            "from sinew.interfaces.sensor_msgs.msg import LaserScan\n"
            "scan = LaserScan._deserialize(LaserScan(ranges=[1.5, 2.5])._serialize())\n"
            "assert isinstance(scan.ranges, memoryview), scan.ranges\n"
            "assert scan.ranges.tolist() == [1.5, 2.5] and scan.ranges.readonly\n"
            "assert scan.intensities.tolist() == []\n"
            "assert LaserScan(ranges=scan.ranges) == LaserScan(ranges=[1.5, 2.5])\n"
        )
        subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})

    @unittest.skipUnless(numpy, NO_NUMPY)
    def test_arrays_of_numpy(self):
        cloud = received(PointCloud2(fields=[PointField(name="x")], data=bytes(range(24))))
        self.assertIsInstance(cloud.data, numpy.ndarray)
        points = cloud.data.view(numpy.float32)
        self.assertEqual(points.shape, (6,))
        self.assertFalse(cloud.data.flags.writeable or cloud.data.flags.owndata)
        with self.assertRaises(ValueError):
            cloud.data[0] = 1
        with self.assertRaises(ValueError):
            cloud.data.flags.writeable = True
        sequences = received(BoundedPlainSequences(bool_values=[True, False], float64_values=[0.25]))
        self.assertEqual(sequences.bool_values.dtype, numpy.bool_)
        self.assertEqual(sequences.float64_values.dtype, numpy.float64)
        self.assertEqual(sequences.uint16_values.dtype, numpy.uint16)
        self.assertEqual(received(PoseWithCovariance()).covariance.shape, (36,))

    @unittest.skipUnless(numpy, NO_NUMPY)
    def test_no_copy_of_10_mb(self):
        """Arrays of one message have one address, and 10 MB are touched without being allocated."""
        import tracemalloc

        image = received(Image(data=bytes(10_000_000)))
        tracemalloc.start()
        data = image.data
        self.assertLess(tracemalloc.get_traced_memory()[1], 100_000)
        tracemalloc.stop()
        view = data.base.obj if isinstance(data.base, memoryview) else data.base
        self.assertIsInstance(view, _sinew.ArrayView)
        self.assertEqual(view.address, data.__array_interface__["data"][0])
        again = Image(data=data)
        self.assertIs(again.data, data)

    @unittest.skipUnless(numpy, NO_NUMPY)
    def test_arrays_outlive_their_message(self):
        kept = []
        for number in range(1000):
            message = received(Float64MultiArray(data=[float(number)] * 100))
            kept.append(message.data[50:])
        del message
        gc.collect()
        self.assertTrue(all((array == number).all() for number, array in enumerate(kept)))

    @unittest.skipUnless(numpy, NO_NUMPY)
    def test_nothing_leaks(self):
        """The references of the view and its types stay the same over many messages."""
        encoded = serialize_message(LaserScan(ranges=[1.0] * 10))
        touch = lambda: (lambda scan: (scan.ranges, scan.header.frame_id))(deserialize_message(encoded, LaserScan))
        for _ in range(10):
            touch()
        gc.collect()
        before = sys.getrefcount(LaserScan), sys.getrefcount(_sinew.ArrayView), len(gc.get_objects())
        for _ in range(2000):
            touch()
        gc.collect()
        after = sys.getrefcount(LaserScan), sys.getrefcount(_sinew.ArrayView), len(gc.get_objects())
        for one, other in zip(before, after):
            self.assertLess(abs(one - other), 50)

    @unittest.skipUnless(numpy, NO_NUMPY)
    def test_from_numpy(self):
        pixels = numpy.arange(24, dtype=numpy.uint8).reshape(2, 4, 3)
        self.assertEqual(bytes(received(Image(data=pixels)).data), bytes(range(24)))
        every_other = numpy.arange(20, dtype=numpy.float32)[::2]
        self.assertEqual(received(LaserScan(ranges=every_other)).ranges.tolist(), list(range(0, 20, 2)))
        # Other types are converted, one by one, and checked.
        self.assertEqual(received(LaserScan(ranges=numpy.arange(3.0))).ranges.tolist(), [0, 1, 2])
        with self.assertRaises(ValueError):
            Image(data=numpy.array([1, 256]))
        with self.assertRaises(TypeError):
            Image(data=numpy.array([1.5]))
        with self.assertRaises(ValueError):
            PoseWithCovariance(covariance=numpy.zeros(35))

    @unittest.skipUnless(numpy, NO_NUMPY)
    def test_dlpack(self):
        ranges = received(LaserScan(ranges=[1.0, 2.0])).ranges
        try:
            shared = numpy.from_dlpack(ranges)
        except BufferError as error:
            self.skipTest(f"this numpy exports no read-only arrays: {error}")
        self.assertEqual(shared.__array_interface__["data"][0], ranges.__array_interface__["data"][0])
        self.assertFalse(shared.flags.writeable)


if __name__ == "__main__":
    unittest.main()
