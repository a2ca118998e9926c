"""Messages that are written where they are published, and those that are passed on without a copy."""

import os
import sys
import unittest
import warnings

from sinew.interfaces.geometry_msgs.msg import PoseWithCovariance
from sinew.interfaces.sensor_msgs.msg import Image
from sinew.interfaces.std_msgs.msg import Header
from support import SinewTest, finish, program

try:
    import numpy
except ImportError:
    numpy = None
    print("SKIPPED: tests of numpy's arrays: it is not installed", file=sys.stderr)

NO_NUMPY = "numpy is not installed"


def address(array):
    """Returns where the elements of an array of numpy lie."""
    return array.__array_interface__["data"][0]


def mapped(array):
    """Returns the device and inode of the mapped file in which an array lies, and the offset in it."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            area, _, offset, device, inode, *_ = line.split()
            begin, end = (int(part, 16) for part in area.split("-"))
            if begin <= address(array) < end:
                return device, int(inode), int(offset, 16) + address(array) - begin
    raise AssertionError("it is not mapped")


class Drafts(SinewTest):
    def setUp(self):
        super().setUp()
        self.publisher = self.node.create_publisher(Image, "image", 10)
        self.subscription = self.node.create_subscription(Image, "image", None, 10)

    def take(self):
        taken = self.subscription.take()
        return taken and taken[0]

    def test_a_draft(self):
        with self.publisher.draft(header=Header(frame_id="eye"), height=2, width=3, encoding="mono8", data=6) as draft:
            memoryview(draft.data)[:] = b"abcdef"
            self.assertIs(draft.data, draft.data)
        image = self.take()
        expected = Image(header=Header(frame_id="eye"), height=2, width=3, encoding="mono8", data=b"abcdef")
        self.assertEqual(image, expected)

    def test_an_exception_drops_it(self):
        with self.assertRaises(KeyError), self.publisher.draft(data=6):
            raise KeyError
        self.assertIsNone(self.take())

    def test_what_a_draft_refuses(self):
        with self.assertRaisesRegex(AttributeError, "no field `nothing`"):
            self.publisher.draft(nothing=1)
        with self.assertRaisesRegex(TypeError, "expected a length"):
            self.publisher.draft(data=-1)
        with self.assertRaisesRegex(ValueError, "expected at most 4294967295 elements"):
            self.publisher.draft(data=1 << 33)
        with self.publisher.draft(height=2, data=1) as draft:
            with self.assertRaisesRegex(AttributeError, "not written in place"):
                draft.height
            with self.assertRaisesRegex(AttributeError, r"draft.data\[:\] = .."):
                draft.data = b"a"
        with self.assertRaisesRegex(RuntimeError, "published or dropped"):
            draft.data
        with self.assertRaisesRegex(RuntimeError, "published or dropped"):
            draft.__exit__(None, None, None)

    def test_arrays_of_a_fixed_size_are_zero(self):
        publisher = self.node.create_publisher(PoseWithCovariance, "pose", 10)
        subscription = self.node.create_subscription(PoseWithCovariance, "pose", None, 10)
        for _ in range(3):
            with publisher.draft() as draft:
                self.assertEqual(list(draft.covariance), [0.0] * 36)
                memoryview(draft.covariance)[35] = 2.5
            message, _ = subscription.take()
            self.assertEqual(list(message.covariance), [0.0] * 35 + [2.5])
            self.assertEqual(message.pose.orientation.w, 1.0)

    def test_an_array_that_is_kept(self):
        """A published message never changes: one of which an array is left is copied, with a warning."""
        with self.assertWarnsRegex(RuntimeWarning, "a copy was published"):
            with self.publisher.draft(data=3) as draft:
                kept = memoryview(draft.data)
                kept[:] = b"abc"
        with self.assertRaisesRegex(RuntimeError, "published or dropped"):
            draft.__exit__(None, None, None)
        kept[0] = ord("x")
        self.assertEqual(bytes(self.take().data), b"abc")
        kept.release()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.publisher.draft(data=3) as draft:
                view = memoryview(draft.data)
                view[:] = b"abc"
                view.release()

    @unittest.skipUnless(numpy, NO_NUMPY)
    def test_no_copy(self):
        """The received array lies where the draft was written; a message that is passed on as well."""
        forward = self.node.create_publisher(Image, "forward", 10)
        last = self.node.create_subscription(Image, "forward", None, 10)
        with self.publisher.draft(height=1000, width=10_000, data=10_000_000) as draft:
            draft.data[:] = 7
            written = address(draft.data)
        image = self.take()
        self.assertEqual((address(image.data), image.data.nbytes), (written, 10_000_000))
        self.assertTrue((image.data == 7).all() and not image.data.flags.writeable)
        self.assertEqual(image.header.frame_id, "")  # reading it changes nothing
        forward.publish(image)
        again, _ = last.take()
        self.assertEqual(address(again.data), written)
        image.header.frame_id = "changed"
        forward.publish(image)
        changed, _ = last.take()
        self.assertEqual((changed.header.frame_id, again.header.frame_id), ("changed", ""))
        self.assertNotEqual(address(changed.data), written)

    @unittest.skipUnless(numpy and os.path.exists("/proc/self/maps"), "needs numpy and Linux")
    def test_no_copy_between_processes(self):
        """Both processes have the array in memory that they share, at the same place of the same file."""
        heard = []
        self.node.create_subscription(Image, "shared", heard.append, 10)
        other = program("""
            from sinew.interfaces.sensor_msgs.msg import Image
            from test_drafts import mapped
            sinew.init([])
            node = sinew.Node("other")
            publisher = node.create_publisher(Image, "shared", 10)
            publisher.wait_for_subscriptions(1, support.PATIENCE)
            with publisher.draft(height=1000, data=10_000_000) as draft:
                draft.data[:] = 5
                print(mapped(draft.data))
            publisher.wait_for_all_acked(support.PATIENCE)
        """)
        self.spin_until(lambda: heard)
        data = heard[0].data
        self.assertTrue((data == 5).all())
        place = mapped(data)
        self.assertNotEqual(place[1], 0, "memory without a file")
        self.assertEqual(finish(other)[:2], (0, f"{place}\n"))

    @unittest.skipUnless(numpy, NO_NUMPY)
    def test_arrays_outlive_everything(self):
        with self.publisher.draft(data=1000) as draft:
            draft.data[:] = 9
        data = self.take().data
        self.node.destroy_node()
        self.context.shutdown()
        self.assertTrue((data == 9).all())


if __name__ == "__main__":
    unittest.main()
