"""Bags, read by Sinew; and messages of Sinew, read by rosbags, an implementation of its own."""

import json
import os
import pathlib
import sys
import tempfile
import unittest

from sinew import interfaces
from sinew.bag import BagError, Reader
from sinew.convert import to_dict
from sinew.serialization import deserialize_message, serialize_message

try:
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore
except ImportError:
    Writer = None
    print("SKIPPED: the comparison with rosbags: it is not installed", file=sys.stderr)

REPOSITORY = os.environ.get("SINEW_REPOSITORY") or pathlib.Path(__file__).resolve().parents[2]
BAG = pathlib.Path(REPOSITORY, "crates/sinew-bag/tests/data/service_events/bag_with_topics_and_service_events_and_action.mcap")
NO_ROSBAGS = "rosbags is not installed"


class Bags(unittest.TestCase):
    def test_a_bag_of_ros_2(self):
        with Reader(BAG) as bag:
            self.assertGreater(len(bag), 0)
            first, last = bag.times
            messages = list(bag)
            self.assertEqual((len(messages), messages[0].stamp, messages[-1].stamp), (len(bag), first, last))
            self.assertEqual(sum(topic.message_count for topic in bag.topics), len(bag))
            for topic, message, stamp in messages:
                self.assertTrue(first <= stamp <= last and to_dict(message) is not None, topic)
            name = messages[0].topic
            only = list(bag.messages([name], start=first, end=first + 1))
            self.assertEqual({message.topic for message in only}, {name})
            self.assertEqual(only[0].message, messages[0].message)
        with self.assertRaises(ValueError):
            len(bag)

    def test_what_is_no_bag(self):
        with self.assertRaises(BagError):
            Reader("/nonexistent")
        with Reader(BAG) as bag, self.assertRaisesRegex(BagError, "/nothing"):
            bag.messages("/nothing")

    @unittest.skipUnless(Writer, NO_ROSBAGS)
    def test_a_bag_of_rosbags(self):
        store = get_typestore(Stores.ROS2_JAZZY)
        cls = interfaces.find("sensor_msgs/msg/LaserScan")
        scans = [cls(range_max=float(number), ranges=[0.5] * number) for number in range(5)]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "bag")
            with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
                scan = writer.add_connection("/scan", "sensor_msgs/msg/LaserScan", typestore=store)
                for number, message in enumerate(scans):
                    writer.write(scan, number, serialize_message(message))
            with Reader(path) as bag:
                self.assertEqual([message.message for message in bag], scans)
                self.assertEqual({type(message.message) for message in bag}, {cls})


@unittest.skipUnless(Writer, NO_ROSBAGS)
class Rosbags(unittest.TestCase):
    """The library's types and bytes are those of an implementation that shares no code with it."""

    def test_hashes(self):
        store = get_typestore(Stores.ROS2_JAZZY)
        count = 0
        for package in interfaces.packages():
            for name in interfaces.names(package):
                full = f"{package}/{name}"
                # rosbags hashes `char` as a type of its own, which ROS 2 replaces by `uint8`.
                has_char = full in ("service_msgs/msg/ServiceEventInfo", "std_msgs/msg/Char")
                if name.startswith("msg/") and full in store.fielddefs and not has_char:
                    self.assertEqual(interfaces.find(full)._class.hash, store.hash_rihs01(full), full)
                    count += 1
        self.assertGreater(count, 100)

    def test_messages(self):
        """What Python builds is decoded by rosbags to the same values, and encoded to the same bytes."""
        store = get_typestore(Stores.ROS2_JAZZY)
        header = interfaces.find("std_msgs/msg/Header")(frame_id="map")
        header.stamp.sec = -3
        imu = interfaces.find("sensor_msgs/msg/Imu")(header=header)
        imu.angular_velocity_covariance = [float(number) for number in range(9)]
        field = interfaces.find("sensor_msgs/msg/PointField")(name="x", count=2)
        cloud = interfaces.find("sensor_msgs/msg/PointCloud2")(header=header, fields=[field, field], data=b"abc", is_dense=True)
        for message in [header, imu, cloud]:
            name = message._class.name
            encoded = serialize_message(message)
            theirs = store.deserialize_cdr(encoded, name)
            self.assertEqual(bytes(store.serialize_cdr(theirs, name)), encoded)
            for field in message.get_fields_and_field_types():
                value = getattr(theirs, field)
                if hasattr(value, "tolist"):
                    self.assertEqual(value.tolist(), to_dict(message)[field])
                elif isinstance(value, (int, float, str)):
                    self.assertEqual(value, getattr(message, field))


if __name__ == "__main__":
    unittest.main()
