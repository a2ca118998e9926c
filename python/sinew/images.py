"""Images as PNG, so that notebooks show them: without a library for pictures."""

from __future__ import annotations

import struct
import zlib
from typing import Any

__all__ = ["png"]

#: By encoding: bytes of a pixel, PNG's colour type, and whether blue is the first of three colours.
_ENCODINGS = {
    "mono8": (1, 0, False),
    "8UC1": (1, 0, False),
    "rgb8": (3, 2, False),
    "8UC3": (3, 2, True),
    "bgr8": (3, 2, True),
    "rgba8": (4, 6, False),
    "bgra8": (4, 6, True),
    "mono16": (2, 0, False),
    "16UC1": (2, 0, False),
}


def png(image: Any) -> bytes | None:
    """Returns a ``sensor_msgs/msg/Image`` as a PNG; `None` for an encoding that can't be shown, or if the
    data is shorter than the image's size claims."""
    known = _ENCODINGS.get(image.encoding)
    width, height, step = image.width, image.height, image.step
    if known is None or not width or not height:
        return None
    pixel, colour, blue_first = known
    step = step or width * pixel
    data = memoryview(image.data).cast("B")
    if step < width * pixel or len(data) < step * (height - 1) + width * pixel:
        return None
    lines = bytearray()
    for row in range(height):
        line = bytearray(data[row * step : row * step + width * pixel])
        if blue_first:
            line[0::pixel], line[2::pixel] = line[2::pixel], line[0::pixel]
        if pixel == 2 and not image.is_bigendian:
            line[0::2], line[1::2] = line[1::2], line[0::2]
        lines += b"\0" + line  # no filter
    size = struct.pack(">IIBBBBB", width, height, 16 if pixel == 2 else 8, colour, 0, 0, 0)
    parts = [(b"IHDR", size), (b"IDAT", zlib.compress(lines, 1)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
