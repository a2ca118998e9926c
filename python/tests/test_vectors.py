"""Messages that ROS 2 serialised, decoded field by field and encoded again."""

import json
import os
import pathlib
import unittest

from sinew import interfaces
from sinew.convert import from_dict, from_json, to_json

REPOSITORY = os.environ.get("SINEW_REPOSITORY") or pathlib.Path(__file__).resolve().parents[2]
VECTORS = pathlib.Path(REPOSITORY, "crates/sinew-msg/tests/vectors")


def vectors():
    for path in sorted(VECTORS.iterdir()):
        yield from json.loads(path.read_text())


class Vectors(unittest.TestCase):
    def assert_same(self, path, ours, theirs):
        if isinstance(theirs, dict):
            self.assertEqual(list(ours), list(theirs), path)
            for name in theirs:
                self.assert_same(f"{path}.{name}", ours[name], theirs[name])
        elif isinstance(theirs, list):
            self.assertEqual(len(ours), len(theirs), path)
            for index, (one, other) in enumerate(zip(ours, theirs)):
                self.assert_same(f"{path}[{index}]", one, other)
        else:
            self.assertEqual(ours, theirs, path)

    def test_all(self):
        count = 0
        for vector in vectors():
            cls = interfaces.find(vector["type"])
            encoded = bytes.fromhex(vector["cdr_hex"])
            with self.subTest(vector["type"]):
                message = cls._deserialize(encoded)
                self.assert_same(vector["type"], json.loads(to_json(message)), vector["value"])
                self.assertEqual(message._serialize(), encoded)
                # Every field was touched; nothing of the received bytes is left below.
                built = from_dict(cls, vector["value"])
                self.assertEqual(built._serialize(), encoded)
                self.assertEqual(from_json(cls, to_json(built))._serialize(), encoded)
            count += 1
        self.assertEqual(count, 51)


if __name__ == "__main__":
    unittest.main()
