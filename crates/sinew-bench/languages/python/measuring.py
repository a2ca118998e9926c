"""What the Python programs of `sinew bench languages` share: their arguments, the clock, a core of their own, what
they exchange, and the line of JSON with which they end.

A program is started with ROLE NANOSECONDS CORE. With 0 nanoseconds it plays its role until it is ended.
"""

import ctypes
import json
import os
import resource
import signal
import sys
import time

try:
    import numpy
except ImportError:
    numpy = None  # then no images are measured

#: Bytes of an image.
IMAGE = 10_000_000

#: Images per second.
RATE = 50

#: Images that warm up.
WARM = 5

#: Messages between two readings of the clock.
CHUNK = 100

#: The texts of small messages, of 64 characters each, in the order in which they are sent again and again.
TEXTS = [f"{number:064}" for number in range(CHUNK)]

now_ns = time.monotonic_ns


def play(*roles):
    """Plays the role that the arguments name, `image-out` for `image_out`: a function that gets the time to measure."""
    name, nanoseconds, core = sys.argv[1:]
    by_name = {role.__name__.replace("_", "-"): role for role in roles}
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: this process ends with the one that started it
    os.sched_setaffinity(0, {int(core)})
    by_name[name](int(nanoseconds))


def ready():
    """Tells the measuring process that the other one may begin."""
    print("null", flush=True)


def end(values, lost=0, **more):
    """Ends the measurement with times in nanoseconds, and other figures by their names."""
    samples = {"values": values, "recorded": len(values)}
    print(json.dumps({"samples": samples, "lost": lost, **more}), flush=True)


def repeat(nanoseconds, operation, chunk=CHUNK):
    """Repeats an operation: for ever, or for a time after a chunk that warms up. Then it ends with the times of
    chunks."""
    if nanoseconds == 0:
        ready()
        while True:
            operation()
    values = []
    for _ in range(CHUNK):
        operation()
    now = now_ns()
    until = now + nanoseconds
    while now < until:
        began = now
        for _ in range(chunk):
            operation()
        now = now_ns()
        values.append(now - began)
    end(values)


class Rally:
    """Sends again as soon as an answer has come, from the callback that gets it, for a time. Has the times of
    round trips."""

    def __init__(self, nanoseconds, send, stop):
        self._send = send
        self._stop = stop
        self._nanoseconds = nanoseconds
        self._until = None
        self._began = 0
        self._warm = CHUNK
        self.values = []

    def begin(self):
        self._until = now_ns() + self._nanoseconds
        self._began = now_ns()
        self._send()

    def answer(self, *_):
        now = now_ns()
        if self._warm > 0:
            self._warm -= 1
        else:
            self.values.append(now - self._began)
        if now > self._until:
            self._stop()
            return
        self._began = now_ns()
        self._send()


class Received:
    """Counts small messages for a time, checks each, and has the times of chunks."""

    def __init__(self, nanoseconds, stop):
        self._nanoseconds = nanoseconds
        self._stop = stop
        self._until = None
        self._began = 0
        self._next = 0
        self.values = []
        self.lost = 0

    def text(self, text):
        if text != TEXTS[self._next]:
            missing = (int(text) - self._next) % CHUNK
            self.lost += missing
            self._next = int(text)
        self._next += 1
        if self._next == CHUNK:
            self._next = 0
            self._chunk()

    def _chunk(self):
        now = now_ns()
        if self._until is None:
            self._until = now + self._nanoseconds
        else:
            self.values.append(now - self._began)
            if now > self._until:
                self._until = now + self._nanoseconds
                self._stop()
        self._began = now


class Images:
    """Publishes images at a rate, for a time or for ever, and has the times of publishing without those of filling."""

    def __init__(self, nanoseconds):
        self._nanoseconds = nanoseconds
        self._source = numpy.arange(IMAGE, dtype=numpy.uint8)
        self._copies = 0

    def fill(self, pixels):
        """Fills an array with the picture, and with the time at which it is filled. Returns how long that took."""
        began = now_ns()
        numpy.copyto(pixels, self._source)
        filled = now_ns()
        pixels[:8].view(numpy.int64)[0] = filled
        return now_ns() - began

    def check(self, pixels, directory):
        """Counts a copy if an array doesn't lie in a file of the directory. Returns how long that took."""
        began = now_ns()
        self._copies += not lies_in(pixels, directory)
        return now_ns() - began

    def run(self, publish):
        """`publish()` publishes one, and returns the time that this took beyond that of `fill` and `check`."""
        if self._nanoseconds == 0:
            ready()
        values = []
        due = now_ns()
        until = due + self._nanoseconds
        while self._nanoseconds == 0 or due < until:
            time.sleep(max(0, due - now_ns()) / 1e9)
            due += 1_000_000_000 // RATE
            values.append(publish())
        end(values[WARM:], copies=self._copies)


class Arrived:
    """Gets images as arrays, for a time or for ever, and has the times since they were filled."""

    def __init__(self, nanoseconds, stop):
        self._until = None
        self._nanoseconds = nanoseconds
        self._stop = stop
        self._values = []
        self._copies = 0

    def begin(self):
        if self._nanoseconds == 0:
            ready()

    def image(self, pixels, directory=None):
        """Gets a numpy array, which was copied unless it lies in a file of the directory."""
        now = now_ns()
        took = now - int(pixels[:8].view(numpy.int64)[0])
        if self._nanoseconds == 0:
            return
        if len(pixels) != IMAGE:
            sys.exit(f"an image has {len(pixels)} bytes")
        self._copies += directory is None or not lies_in(pixels, directory)
        self._values.append(took)
        self._until = self._until or now + self._nanoseconds
        if now > self._until:
            self._stop()

    def end(self):
        end(self._values[WARM:], copies=self._copies)


def lies_in(pixels, directory):
    """Returns whether an array lies in a file of a directory."""
    address = pixels.__array_interface__["data"][0]
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            extent, *_, path = line.split(maxsplit=5)
            first, last = (int(number, 16) for number in extent.split("-"))
            if first <= address < last:
                return path.startswith(directory)
    return False


class Idle:
    """The CPU time and the wake-ups of this process while it has nothing to do, but to wait for a time."""

    def __init__(self):
        self._began = now_ns()
        self._before = resource.getrusage(resource.RUSAGE_SELF)

    def end(self):
        after = resource.getrusage(resource.RUSAGE_SELF)
        cpu = after.ru_utime + after.ru_stime - self._before.ru_utime - self._before.ru_stime
        elapsed = (now_ns() - self._began) / 1e9
        wake_ups = after.ru_nvcsw - self._before.ru_nvcsw - 1  # the end of the wait is one
        end([], cpu_percent=100 * cpu / elapsed, wake_ups=wake_ups)
