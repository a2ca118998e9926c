"""Many messages, many views, many threads. `.ci/deep python` has them by the million."""

import gc
import os
import sys
import threading
import unittest

import sinew
from sinew.interfaces.sensor_msgs.msg import Image
from sinew.interfaces.std_msgs.msg import String
from sinew.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy
from support import PATIENCE, SinewTest, finish, program

MESSAGES = int(os.environ.get("SINEW_TEST_MESSAGES", 20_000))
VIEWS = int(os.environ.get("SINEW_TEST_VIEWS", 300))
THREADS = 4

LOSSLESS = QoSProfile(history=HistoryPolicy.KEEP_ALL, reliability=ReliabilityPolicy.RELIABLE)

#: A hundred images each time that it is asked: a reliable publisher that keeps all waits for readers to let go of
#: the oldest of a thousand.
CAMERA = """
from sinew.interfaces.sensor_msgs.msg import Image

sinew.init(signals=False)
publisher = sinew.Node("camera").create_publisher(Image, "images", 100)
publisher.wait_for_subscriptions(1, support.PATIENCE)
for number in range({count}):
    if number % 100 == 0:
        sys.stdin.readline()
    with publisher.draft(width=number, data=1000) as draft:
        draft.data[:] = bytes([number % 251]) * 1000 if isinstance(draft.data, memoryview) else number % 251
sys.stdin.readline()
"""


def resident():
    """Returns the memory of this process in bytes, without that of files."""
    with open("/proc/self/status", encoding="utf-8") as status:
        line = next(line for line in status if line.startswith("RssAnon:"))
    return int(line.split()[1]) * 1024


class Endurance(SinewTest):
    def test_memory_stays_flat(self):
        """Objects of Python and memory don't grow with the number of messages."""
        received = 0

        def count(message):
            nonlocal received
            received += len(message.data) == 9

        self.node.create_subscription(String, "texts", count, LOSSLESS)
        publisher = self.node.create_publisher(String, "texts", LOSSLESS)
        seen = []
        for part in range(10):
            for begin in range(0, MESSAGES // 10, 100):
                for _ in range(begin, begin + 100):
                    publisher.publish(String(data="a message"))
                self.executor.spin_some()
            gc.collect()
            seen.append((sys.getallocatedblocks(), resident()))
        self.assertEqual(received, MESSAGES // 1000 * 1000)
        (blocks, memory), (blocks_then, memory_then) = seen[-1], seen[1]
        self.assertLess(blocks - blocks_then, 200, seen)
        self.assertLess(memory - memory_then, 1 << 20, seen)

    def test_views_are_kept(self):
        """Another process's images, all of which this one keeps."""
        camera = program(CAMERA.format(count=VIEWS))
        self.addCleanup(lambda: camera.poll() is None and camera.kill())
        views = []
        self.node.create_subscription(Image, "images", lambda image: views.append((image.width, image.data)), 100)
        for count in range(100, VIEWS + 1, 100):
            camera.stdin.write("\n")
            camera.stdin.flush()
            self.spin_until(lambda: len(views) == count)
        self.assertEqual([width for width, _ in views], list(range(VIEWS)))
        camera.stdin.write("\n")
        code, _, errors = finish(camera)
        self.assertEqual(code, 0, errors)
        for number, view in views:
            self.assertEqual(bytes(view), bytes([number % 251]) * 1000)

    def test_threads_share_a_node(self):
        """Threads publish, spin and read the messages of one node, with the GIL or without it."""
        each = MESSAGES // 100
        group = sinew.ReentrantCallbackGroup()
        counts, lock = {}, threading.Lock()

        def count(message):
            thread, _, number = message.data.partition(" ")
            with lock:
                counts.setdefault(thread, []).append(int(number))

        node = sinew.Node("many", context=self.context)
        self.addCleanup(node.destroy_node)
        node.create_subscription(String, "words", count, LOSSLESS, callback_group=group)
        publisher = node.create_publisher(String, "words", LOSSLESS)
        executor = sinew.MultiThreadedExecutor(THREADS)
        executor.add_node(node)
        spinning = threading.Thread(target=executor.spin)
        spinning.start()
        failures = []

        def publish(thread):
            try:
                for number in range(each):
                    publisher.publish(String(data=f"{thread} {number}"))
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=publish, args=(thread,)) for thread in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        done = threading.Event()
        for _ in range(int(PATIENCE * 100)):
            with lock:
                if sum(map(len, counts.values())) == THREADS * each:
                    break
            done.wait(0.01)
        executor.stop()
        spinning.join(PATIENCE)
        self.assertEqual(failures, [])
        expected = {str(thread): list(range(each)) for thread in range(THREADS)}
        self.assertEqual({thread: sorted(numbers) for thread, numbers in counts.items()}, expected)


if __name__ == "__main__":
    unittest.main()
