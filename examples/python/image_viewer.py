"""Looks at images where they lie, with numpy: image_viewer.py [COUNT]"""

import sys

import sinew
from sinew.interfaces.sensor_msgs.msg import Image


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    seen = 0
    done = sinew.Future()

    def look(image: Image) -> None:
        nonlocal seen
        # A view, read-only; it keeps the image's memory for as long as it is there.
        pixels = image.data.reshape(image.height, image.width, 3)
        print(f"{image.width} x {image.height}, mean colour {pixels.mean(axis=(0, 1))}", flush=True)
        seen += 1
        if seen == count:
            done.set_result(None)

    with sinew.init(), sinew.Node("viewer") as node:
        node.create_subscription(Image, "image", look, 10)
        try:
            sinew.spin_until_future_complete(node, done)
        except (KeyboardInterrupt, sinew.ExternalShutdownException):
            pass


if __name__ == "__main__":
    main()
