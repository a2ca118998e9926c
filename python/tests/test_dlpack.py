"""Arrays for other libraries, by DLPack. Without numpy an array is a `memoryview`, and its `obj` has it."""

import gc
import os
import subprocess
import sys
import unittest

from sinew.interfaces.sensor_msgs.msg import Image, LaserScan
from sinew.serialization import deserialize_message, serialize_message
from support import SinewTest

try:
    import numpy
except ImportError:
    numpy = None
    print("SKIPPED: DLPack to numpy: it is not installed", file=sys.stderr)
try:
    import torch
except ImportError:
    torch = None
    print("SKIPPED: DLPack to torch: it is not installed", file=sys.stderr)

WITHOUT_NUMPY = """
import sys
sys.modules["numpy"] = None
from sinew.interfaces.sensor_msgs.msg import LaserScan
scan = LaserScan._deserialize(LaserScan(ranges=[1.5, 2.5])._serialize())
numbers = scan.ranges.obj
assert numbers.__dlpack_device__() == (1, 0)
assert 'dltensor_versioned' in repr(numbers.__dlpack__(max_version=(1, 0)))
for options in [{}, {"max_version": (0, 8)}, {"max_version": (1, 0), "dl_device": (2, 0)}]:
    try:
        numbers.__dlpack__(**options)
    except BufferError:
        continue
    raise AssertionError(options)
"""


def numbers_of(array):
    """Returns the object of ours below an array."""
    while isinstance(array, (numpy.ndarray, memoryview)):
        array = array.base if isinstance(array, numpy.ndarray) else array.obj
    return array


class DLPack(SinewTest):
    def test_without_numpy(self):
        path = os.pathsep.join(sys.path)
        subprocess.run([sys.executable, "-c", WITHOUT_NUMPY], check=True, env={**os.environ, "PYTHONPATH": path})

    @unittest.skipUnless(numpy, "numpy is not installed")
    def test_received(self):
        scan = deserialize_message(serialize_message(LaserScan(ranges=[1.5, 2.5])), LaserScan)
        taken = numpy.from_dlpack(numbers_of(scan.ranges))
        self.assertEqual((taken.tolist(), str(taken.dtype)), ([1.5, 2.5], "float32"))
        self.assertTrue(numpy.shares_memory(taken, scan.ranges))
        self.assertFalse(taken.flags.writeable)
        del scan
        gc.collect()
        self.assertEqual(taken.tolist(), [1.5, 2.5])

    @unittest.skipUnless(numpy, "numpy is not installed")
    def test_drafts(self):
        images = []
        self.node.create_subscription(Image, "image", images.append, 10)
        publisher = self.node.create_publisher(Image, "image", 10)
        with publisher.draft(width=4, data=4) as draft:
            numbers = numbers_of(draft.data)
            untaken = numbers.__dlpack__()
            self.assertIn('"dltensor"', repr(untaken))
            pixels = numpy.from_dlpack(numbers)
            pixels[:] = range(4)
            del untaken, pixels
        self.spin_until(lambda: images)
        self.assertEqual(bytes(images[0].data), bytes(range(4)))
        with self.assertRaises(BufferError):
            numbers.__dlpack__()
        with self.assertWarns(RuntimeWarning):  # a tensor that is left, as an array that is left
            with publisher.draft(width=4, data=4) as draft:
                left = numpy.from_dlpack(numbers_of(draft.data))
        left[:] = 7
        self.spin_until(lambda: len(images) == 2)

    @unittest.skipUnless(numpy and torch, "torch is not installed")
    def test_torch(self):
        image = deserialize_message(serialize_message(Image(data=bytes(range(9)))), Image)
        taken = torch.from_dlpack(numbers_of(image.data))
        self.assertEqual(taken.tolist(), list(range(9)))
        self.assertEqual(taken.data_ptr(), image.data.__array_interface__["data"][0])


if __name__ == "__main__":
    unittest.main()
