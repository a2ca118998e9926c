"""Message classes: construction, checks, comparison, copies, and bytes that can't be trusted."""

import array
import copy
import json
import os
import pathlib
import pickle
import struct
import tempfile
import threading
import unittest

import sinew
from sinew import _sinew, interfaces
from sinew.convert import (
    from_dict,
    from_json,
    message_to_csv,
    message_to_ordereddict,
    message_to_yaml,
    set_message_fields,
    to_dict,
    to_json,
)
from sinew.interfaces.builtin_interfaces.msg import Time
from sinew.interfaces.diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from sinew.interfaces.example_interfaces.action import Fibonacci
from sinew.interfaces.example_interfaces.srv import AddTwoInts
from sinew.interfaces.geometry_msgs.msg import PoseStamped, PoseWithCovariance, Quaternion, Twist, Vector3
from sinew.interfaces.nav_msgs.msg import Odometry
from sinew.interfaces.sensor_msgs.msg import Image, Imu, PointCloud2, PointField
from sinew.interfaces.std_msgs.msg import (
    Bool,
    Float32,
    Float64MultiArray,
    Header,
    Int64,
    String,
    UInt8MultiArray,
    UInt64,
)
from sinew.interfaces.test_msgs.msg import Arrays, BasicTypes, BoundedSequences, Empty, Strings, UnboundedSequences
from sinew.interfaces.trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from sinew.serialization import deserialize_message, serialize_message

REPOSITORY = os.environ.get("SINEW_REPOSITORY") or pathlib.Path(__file__).resolve().parents[2]


def received(message):
    """Returns the message as a subscription gets it."""
    return deserialize_message(serialize_message(message), type(message))


class Construction(unittest.TestCase):
    def test_defaults_and_keywords(self):
        self.assertEqual(Quaternion().w, 1.0)
        twist = Twist(linear=Vector3(x=1))
        self.assertEqual((twist.linear.x, twist.angular.z), (1.0, 0.0))
        self.assertIs(type(twist.linear.x), float)
        self.assertIs(twist.linear, twist.linear)
        twist.angular.z = 2
        self.assertEqual(received(twist).angular.z, 2.0)

    def test_defaults_are_not_shared(self):
        one, other = PointCloud2(), PointCloud2()
        one.fields.append(PointField(name="x"))
        one.header.frame_id = "lidar"
        self.assertEqual((other.fields, other.header.frame_id), ([], ""))

    def test_repr(self):
        self.assertEqual(repr(String(data="hi")), "std_msgs.msg.String(data='hi')")
        self.assertEqual(repr(Time(sec=1)), "builtin_interfaces.msg.Time(sec=1, nanosec=0)")
        self.assertTrue(repr(Image(data=bytes(1000))).endswith("0, ... 900 more])"))
        self.assertEqual(repr(Imu()), repr(received(Imu())))

    def test_constants_and_parts(self):
        self.assertEqual((PointField.FLOAT32, DiagnosticStatus.ERROR), (7, b"\x02"))
        self.assertEqual(AddTwoInts.Request(a=2).a, 2)
        self.assertEqual(AddTwoInts.Request.__qualname__, "AddTwoInts.Request")
        self.assertEqual(Fibonacci.Impl.FeedbackMessage().feedback, Fibonacci.Feedback())
        self.assertEqual(len(AddTwoInts.Event().request), 0)

    def test_fields(self):
        fields = {"x": "double", "y": "double"}
        self.assertEqual(list(Vector3.get_fields_and_field_types()), [*fields, "z"])
        self.assertIn("geometry_msgs/Point", str(PoseStamped().pose.get_fields_and_field_types()))
        self.assertIn("uint32", repr(Image.height))
        self.assertEqual(Image.height.__name__, "height")

    def test_what_does_not_fit(self):
        image = Image()
        for value, error, text in [
            (-1, ValueError, "`height` of sensor_msgs/msg/Image: found -1 (int), expected a value of uint32"),
            (1 << 32, ValueError, "from 0 to 4294967295"),
            (1 << 70, ValueError, "from 0 to 4294967295"),
            (1.5, TypeError, "expected an integer"),
            ("3", TypeError, "expected an integer"),
            (None, TypeError, "expected an integer"),
        ]:
            with self.assertRaises(error) as raised:
                image.height = value
            self.assertIn(text, str(raised.exception))
        with self.assertRaisesRegex(ValueError, r"`data\[2\]` .* found 300 \(int\), expected a value of uint8"):
            image.data = [1, 2, 300]
        with self.assertRaisesRegex(TypeError, "expected a str"):
            image.encoding = 5
        with self.assertRaisesRegex(TypeError, "expected std_msgs/msg/Header"):
            image.header = String()
        with self.assertRaisesRegex(TypeError, "expected a sequence"):
            image.data = "text"
        with self.assertRaisesRegex(TypeError, r"`fields\[1\]` .* expected sensor_msgs/msg/PointField"):
            PointCloud2(fields=[PointField(), 3])
        with self.assertRaisesRegex(ValueError, "found 35 elements, expected 36 elements"):
            sinew.interfaces.find("geometry_msgs/msg/PoseWithCovariance")(covariance=[0.0] * 35)
        with self.assertRaisesRegex(ValueError, "expected a value of float32"):
            Float32(data=1e39)
        with self.assertRaises(TypeError):
            Bool(data="yes")
        with self.assertRaisesRegex(AttributeError, "has no field `foo`, but header, height"):
            Image(foo=1)
        with self.assertRaises(AttributeError):
            image.foo = 1
        with self.assertRaises(AttributeError):
            del image.height
        with self.assertRaisesRegex(TypeError, "by name"):
            String("hi")
        with self.assertRaisesRegex(TypeError, "base of all message classes"):
            _sinew.Message()
        self.assertEqual(image, Image())

    def test_bounds(self):
        with self.assertRaisesRegex(ValueError, "found 4 elements, expected at most 3"):
            BoundedSequences(int8_values=[1, 2, 3, 4])
        with self.assertRaisesRegex(ValueError, "found 23 characters, expected at most 22"):
            Strings(bounded_string_value="x" * 23)
        sequences = BoundedSequences()
        sequences.string_values.extend("abcd")  # noticed when it is encoded
        with self.assertRaisesRegex(ValueError, "at most 3"):
            serialize_message(sequences)

    def test_numbers_of_numpy(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is not installed")
        message = BasicTypes(
            bool_value=numpy.bool_(True), int32_value=numpy.int64(-5), float32_value=numpy.float32(0.5)
        )
        self.assertEqual((message.bool_value, message.int32_value, message.float32_value), (True, -5, 0.5))
        self.assertIs(type(message.int32_value), int)
        self.assertIs(type(message.bool_value), bool)
        with self.assertRaises(ValueError):
            message.int8_value = numpy.int64(128)

    def test_time_of_a_clock(self):
        class Now:
            def to_msg(self):
                return Time(sec=7)

        self.assertEqual(Header(stamp=Now()).stamp.sec, 7)

    def test_integers_of_64_bits(self):
        for cls, value in [(UInt64, 2**64 - 1), (Int64, -(2**63)), (Int64, 2**63 - 1)]:
            self.assertEqual(received(cls(data=value)).data, value)


class Values(unittest.TestCase):
    def test_equality(self):
        a, b = Imu(orientation=Quaternion(x=0.5)), Imu(orientation=Quaternion(x=0.5))
        self.assertEqual(a, b)
        self.assertEqual(received(a), b)
        b.linear_acceleration_covariance[3] = 1.0
        self.assertNotEqual(a, b)
        self.assertNotEqual(String(), Empty())
        self.assertNotEqual(String(), "x")
        self.assertNotEqual(Float32(data=float("nan")), Float32(data=float("nan")))
        with self.assertRaises(TypeError):
            hash(a)

    def test_arrays_of_any_kind_are_equal(self):
        for data in [b"\1\2\3", bytearray(b"\1\2\3"), [1, 2, 3], (1, 2, 3), array.array("B", [1, 2, 3]), range(1, 4)]:
            self.assertEqual(Image(data=data), received(Image(data=[1, 2, 3])))

    def test_copies(self):
        for original in [PointCloud2(fields=[PointField(name="x")], data=[1, 2]), None]:
            original = original or received(PointCloud2(fields=[PointField(name="x")], data=[1, 2]))
            _ = original.fields
            shallow, deep = copy.copy(original), copy.deepcopy(original)
            self.assertEqual(original, shallow)
            self.assertEqual(original, deep)
            original.fields[0].name = "y"
            self.assertEqual((shallow.fields[0].name, deep.fields[0].name), ("y", "x"))

    def test_a_deep_copy_is_its_own(self):
        original = received(Odometry(child_frame_id="a", pose=PoseWithCovariance(covariance=range(36))))
        before = serialize_message(original)
        for touch in (lambda: None, lambda: original.pose.covariance, lambda: copy.deepcopy(original).pose.covariance):
            touch()
            out = copy.deepcopy(original)
            self.assertEqual((out, serialize_message(out)), (original, before))
            out.pose.covariance[35] = -1.0
            for again in (received(out), pickle.loads(pickle.dumps(out)), copy.deepcopy(out), copy.copy(out)):
                self.assertEqual(list(again.pose.covariance), [*range(35), -1.0])
            self.assertEqual((list(original.pose.covariance), serialize_message(original)), ([*range(36)], before))
            self.assertTrue(memoryview(original.pose.covariance).readonly)

    def test_arrays_of_a_deep_copy(self):
        """Of every type of number, touched before or not."""
        kinds = {"bool": True, "float32": 2.5, "float64": 2.5, "byte": 5, "char": 5}
        kinds |= {f"{sign}int{bits}": 5 for sign in ("", "u") for bits in (8, 16, 32, 64)}
        for cls in (Arrays, UnboundedSequences):
            original = received(cls(**{f"{kind}_values": [0, 0, 0] for kind in kinds}))
            before = serialize_message(original)
            for _ in range(2):
                out, unread = copy.deepcopy(original), copy.deepcopy(original)
                for kind, value in kinds.items():
                    getattr(out, f"{kind}_values")[1] = value
                self.assertEqual(serialize_message(unread), before)
                for kind, value in kinds.items():
                    self.assertEqual(list(getattr(received(out), f"{kind}_values")), [0, value, 0], kind)
                    _ = getattr(original, f"{kind}_values")
        self.assertEqual(list(copy.deepcopy(received(UInt8MultiArray())).data), [])

    def test_lists_of_messages_in_a_deep_copy(self):
        original = received(JointTrajectory(points=[JointTrajectoryPoint(positions=[1.0, 2.0])]))
        for _ in range(2):
            out = copy.deepcopy(original)
            out.points[0].positions[1] = 5.0
            self.assertEqual(list(received(out).points[0].positions), [1.0, 5.0])
            self.assertEqual(list(received(original).points[0].positions), [1.0, 2.0])
            _ = original.points[0].positions

    def test_a_deep_copy_of_views(self):
        built = Image(data=memoryview(b"\1\2"))
        out = copy.deepcopy(built)
        out.data[0] = 9
        self.assertEqual((bytes(out.data), bytes(built.data)), (b"\x09\2", b"\1\2"))

    def test_a_deep_copy_in_the_other_byte_order(self):
        encoded = b"\0\0\0\0" + struct.pack(">III4x2d", 0, 0, 2, 1.0, 2.0)
        original = deserialize_message(encoded, Float64MultiArray)
        for _ in range(2):
            out = copy.deepcopy(original)
            out.data[0] = 7.0
            self.assertEqual(list(received(out).data), [7.0, 2.0])
            self.assertEqual(list(original.data), [1.0, 2.0])

    def test_pickle(self):
        for message in [
            PointCloud2(fields=[PointField(name="x")], data=[1, 2]),
            AddTwoInts.Request(a=4),
            Fibonacci.Impl.SendGoalService.Request(goal=Fibonacci.Goal(order=3)),
            Fibonacci.Impl.FeedbackMessage(),
        ]:
            again = pickle.loads(pickle.dumps(message))
            self.assertEqual(again, message)
            self.assertIs(type(again), type(message))

    def test_subclass(self):
        class Pose(Vector3):
            def norm(self):
                return (self.x**2 + self.y**2 + self.z**2) ** 0.5

        pose = Pose(x=3, y=4)
        pose.note = "has a dictionary"
        self.assertEqual((pose.norm(), pose), (5.0, Vector3(x=3, y=4)))
        self.assertEqual(Twist(linear=pose).linear.norm(), 5.0)

    def test_changed_after_it_was_received(self):
        message = received(PointCloud2(header=Header(frame_id="a"), fields=[PointField(name="x")], data=[1, 2]))
        before = serialize_message(message)
        self.assertEqual(message.fields[0].name, "x")
        self.assertEqual(serialize_message(message), before)
        message.fields[0].name = "longer"
        message.header.frame_id = "b"
        message.width = 9
        again = received(message)
        self.assertEqual((again.fields[0].name, again.header.frame_id, again.width), ("longer", "b", 9))
        self.assertEqual(bytes(again.data), b"\1\2")

    def test_text_that_is_no_utf_8(self):
        encoded = b"\0\1\0\0\3\0\0\0a\xff\0"
        message = deserialize_message(encoded, String)
        self.assertEqual(message.data, "a\udcff")
        self.assertEqual(serialize_message(String(data=message.data)), encoded)


class Threads(unittest.TestCase):
    def test_threads_share_a_message(self):
        """All threads that touch a field get the same object; a writer changes nothing else."""
        for _ in range(50):
            cloud = received(PointCloud2(header=Header(frame_id="a"), fields=[PointField(name="x")], data=[1, 2]))
            begin, seen = threading.Barrier(4), []

            def touch(number):
                begin.wait()
                cloud.width = number
                seen.append((cloud.header, cloud.fields, cloud.data, serialize_message(cloud)))

            threads = [threading.Thread(target=touch, args=(number,)) for number in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(len(seen), 4)
            for header, fields, data, encoded in seen:
                self.assertTrue(header is cloud.header and fields is cloud.fields and data is cloud.data)
                self.assertEqual(deserialize_message(encoded, PointCloud2).header, header)

    def test_threads_make_one_class(self):
        begin, found = threading.Barrier(4), []

        def find():
            begin.wait()
            found.append(interfaces.find("visualization_msgs/msg/MarkerArray"))

        threads = [threading.Thread(target=find) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(set(found)), 1)
        self.assertEqual(len(found), 4)


class Conversions(unittest.TestCase):
    def test_dictionaries(self):
        status = DiagnosticStatus(level=DiagnosticStatus.WARN, values=[KeyValue(key="a", value="b")])
        values = to_dict(status)
        self.assertEqual(values["values"], [{"key": "a", "value": "b"}])
        self.assertEqual(from_dict(DiagnosticStatus, values), status)
        self.assertEqual(from_json(DiagnosticStatus, to_json(status)), status)
        self.assertEqual(list(message_to_ordereddict(status)), list(values))

    def test_set_message_fields(self):
        pose = PoseStamped(header=Header(frame_id="map"))
        set_message_fields(pose, {"header": {"stamp": {"sec": 4}}, "pose": {"position": {"x": 1}}})
        self.assertEqual((pose.header.frame_id, pose.header.stamp.sec, pose.pose.position.x), ("map", 4, 1.0))
        for wrong, error in [({"a": 1}, AttributeError), ({"header": 3}, TypeError), ({"header": []}, TypeError)]:
            with self.assertRaises(error):
                set_message_fields(pose, wrong)

    def test_numbers_that_are_not_finite(self):
        text = to_json(Vector3(x=float("nan"), y=float("inf"), z=-float("inf")))
        self.assertEqual(json.loads(text), {"x": "nan", "y": "inf", "z": "-inf"})
        self.assertEqual(to_json(from_json(Vector3, text)), text)

    def test_text(self):
        cloud = PointCloud2(fields=[PointField(name="x", count=1)], data=range(5))
        yaml = message_to_yaml(cloud, truncate_length=3)
        self.assertIn("  stamp:\n    sec: 0\n", yaml)
        self.assertIn('fields:\n- name: "x"\n  offset: 0\n', yaml)
        self.assertIn('data:\n- 0\n- 1\n- 2\n- "..."\n', yaml)
        self.assertEqual(message_to_yaml(Time(sec=1), flow_style=True), "{sec: 1, nanosec: 0}\n")
        self.assertEqual(message_to_csv(Vector3(x=1)), "1.0,0.0,0.0")


class Definitions(unittest.TestCase):
    def test_a_folder_of_definitions(self):
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder, "arm_msgs", "msg")
            package.mkdir(parents=True)
            package.joinpath("Joint.msg").write_text("# A joint.\nstring<=5 name \"j\"\nfloat32[2] limits # in rad\nuint8 MAX=9\n")
            package.joinpath("Broken.msg").write_text("float32 x y\n")
            self.assertEqual(interfaces.add_path(folder), ["arm_msgs"])
            with self.assertRaisesRegex(ImportError, "Broken"):
                from sinew.interfaces.arm_msgs.msg import Broken
            with self.assertRaisesRegex(_sinew.InterfaceError, "Broken.msg:1"):
                interfaces.find("arm_msgs/msg/Broken")
            package.joinpath("Broken.msg").write_text("std_msgs/Heeder header\n")
            with self.assertRaisesRegex(_sinew.InterfaceError, "std_msgs has no message of this name"):
                interfaces.find("arm_msgs/msg/Broken")
            from sinew.interfaces.arm_msgs.msg import Joint

            joint = Joint()
            self.assertEqual((joint.name, list(joint.limits), Joint.MAX), ("j", [0.0, 0.0], 9))
            self.assertIn("A joint.", Joint.__doc__)
            self.assertIn("in rad", Joint.limits.__doc__)
            self.assertEqual(interfaces.names("arm_msgs"), ["msg/Broken", "msg/Joint"])
            with self.assertRaisesRegex(_sinew.InterfaceError, "no msg, srv or action folder"):
                interfaces.add_path(pathlib.Path(folder, "nothing"))

    def test_what_is_unknown(self):
        with self.assertRaises(ImportError):
            from sinew.interfaces.std_msgs.msg import Nothing
        with self.assertRaises(ImportError):
            import sinew.interfaces.no_such_msgs
        with self.assertRaisesRegex(_sinew.InterfaceError, "add the folder of its package"):
            interfaces.find("std_msgs/msg/Nothing")
        with self.assertRaisesRegex(ValueError, "is not the name of a ROS 2 type"):
            interfaces.find("Image")

    def test_all_that_comes_with_sinew(self):
        count = 0
        for package in interfaces.packages():
            for name in interfaces.names(package):
                cls = interfaces.find(f"{package}/{name}")
                parts = [cls] if name.startswith("msg/") else [cls.Request, cls.Response] if name.startswith("srv/") else [cls.Goal, cls.Result, cls.Feedback]
                for part in parts:
                    self.assertEqual(received(part()), part(), part)
                    count += 1
        self.assertGreater(count, 235)


def vectors():
    for path in sorted(pathlib.Path(REPOSITORY, "crates/sinew-msg/tests/vectors").iterdir()):
        yield from json.loads(path.read_text())


class Broken(unittest.TestCase):
    def test_truncated(self):
        """Every beginning of a message is read, as far as it goes, or refused."""
        seen = set()
        for vector in vectors():
            encoded = bytes.fromhex(vector["cdr_hex"])
            if vector["type"] in seen or len(encoded) > 2000 or not vector["value"]:
                continue
            seen.add(vector["type"])
            cls, refused = interfaces.find(vector["type"]), 0
            for length in range(4, len(encoded), max(1, len(encoded) // 50)):
                try:
                    to_dict(deserialize_message(encoded[:length], cls))
                except _sinew.UndecodableError:
                    refused += 1
            self.assertGreater(refused, 0, vector["type"])

    def test_fields_before_the_break_are_read(self):
        encoded = serialize_message(Image(header=Header(frame_id="a"), height=3, encoding="rgb8", data=[1] * 9))
        message = deserialize_message(encoded[:-5], Image)
        self.assertEqual((message.header.frame_id, message.height, message.encoding), ("a", 3, "rgb8"))
        for _ in range(2):
            with self.assertRaisesRegex(_sinew.UndecodableError, "`data` of sensor_msgs/msg/Image"):
                message.data

    def test_lengths_that_lie(self):
        for count in [2, 100, 2**31, 2**32 - 1]:
            for cls in [String, interfaces.find("std_msgs/msg/MultiArrayLayout")]:
                encoded = b"\0\1\0\0" + struct.pack("<I", count)
                with self.assertRaises(_sinew.UndecodableError):
                    to_dict(deserialize_message(encoded, cls))

    def test_wrong_values(self):
        with self.assertRaisesRegex(_sinew.UndecodableError, "a bool is 0 or 1"):
            deserialize_message(b"\0\1\0\0\2", Bool).data
        with self.assertRaisesRegex(_sinew.UndecodableError, "ends with a NUL"):
            deserialize_message(b"\0\1\0\0\1\0\0\0x", String).data
        with self.assertRaisesRegex(_sinew.UndecodableError, "header"):
            deserialize_message(b"\0\1", String)
        with self.assertRaisesRegex(_sinew.UndecodableError, "representation 0x0007"):
            deserialize_message(b"\0\7\0\0\0\0\0\0", String)

    def test_random_bytes(self):
        import random

        chance = random.Random(37)
        for vector in vectors():
            encoded = bytearray.fromhex(vector["cdr_hex"])
            if len(encoded) > 2000:
                continue
            cls = interfaces.find(vector["type"])
            for _ in range(5):
                broken = bytearray(encoded)
                for _ in range(3):
                    broken[chance.randrange(4, len(broken))] = chance.randrange(256)
                try:
                    values = to_dict(deserialize_message(bytes(broken), cls))
                    self.assertEqual(list(values), list(vector["value"]))
                except _sinew.UndecodableError:
                    pass

    def test_big_endian(self):
        encoded = b"\0\0\0\0" + struct.pack(">bBB", 1, 2, 3) + b"\0" + struct.pack(">f", 0.5) + struct.pack(
            ">dbBhH2xiI", 0.25, -4, 5, -6, 7, -8, 9
        ) + struct.pack(">qQ", -10, 11)
        # The alignment of the struct's fields counts from the end of the header.
        message = deserialize_message(encoded, BasicTypes)
        self.assertEqual(
            [*to_dict(message).values()], [True, 2, 3, 0.5, 0.25, -4, 5, -6, 7, -8, 9, -10, 11]
        )
        built = from_dict(BasicTypes, to_dict(message))
        self.assertEqual(built, message)
        floats = interfaces.find("std_msgs/msg/Float32MultiArray")
        encoded = b"\0\0\0\0" + struct.pack(">III3f", 0, 0, 3, 1.5, 2.5, 3.5)
        self.assertEqual([float(x) for x in deserialize_message(encoded, floats).data], [1.5, 2.5, 3.5])


if __name__ == "__main__":
    unittest.main()
