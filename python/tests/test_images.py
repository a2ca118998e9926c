"""Images as notebooks show them."""

import struct
import unittest
import zlib

from sinew.interfaces.sensor_msgs.msg import Image


def lines(picture):
    """Returns width, height, bits and the decompressed lines of a PNG."""
    parts, at = {}, 8
    while at < len(picture):
        length, kind = struct.unpack_from(">I4s", picture, at)
        content = picture[at + 8 : at + 8 + length]
        (check,) = struct.unpack_from(">I", picture, at + 8 + length)
        assert check == zlib.crc32(kind + content)
        parts[kind] = content
        at += 12 + length
    width, height, bits = struct.unpack_from(">IIB", parts[b"IHDR"])
    return width, height, bits, zlib.decompress(parts[b"IDAT"])


class Images(unittest.TestCase):
    def test_colours(self):
        for encoding, data in [("rgb8", b"abcdef"), ("bgr8", b"cbafed")]:
            image = Image(width=1, height=2, step=3, encoding=encoding, data=data)
            self.assertEqual(lines(image._repr_png_()), (1, 2, 8, b"\0abc\0def"))
        image = Image(width=1, height=1, encoding="bgra8", data=b"cbax")
        self.assertEqual(lines(image._repr_png_())[3], b"\0abcx")

    def test_rows_with_padding_and_16_bits(self):
        image = Image(width=1, height=2, step=4, encoding="mono16", data=b"abXXcd")
        self.assertEqual(lines(image._repr_png_()), (1, 2, 16, b"\0ba\0dc"))

    def test_what_cannot_be_shown(self):
        for wrong in [{"encoding": "yuv422"}, {"data": b"ab"}, {"step": 2}, {"width": 0}]:
            fields = {"width": 1, "height": 1, "step": 3, "encoding": "rgb8", "data": b"abc"} | wrong
            self.assertIsNone(Image(**fields)._repr_png_())


if __name__ == "__main__":
    unittest.main()
