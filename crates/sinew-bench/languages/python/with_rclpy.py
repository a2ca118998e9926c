"""rclpy in the roles of `sinew bench languages`, with the middleware of `RMW_IMPLEMENTATION`."""

import array
import sys

import measuring
import numpy
import rclpy
from example_interfaces.srv import AddTwoInts
from measuring import TEXTS, now_ns
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Image
from std_msgs.msg import String

PATIENCE = 30.0  # seconds
LOSSLESS = QoSProfile(history=HistoryPolicy.KEEP_ALL, reliability=ReliabilityPolicy.RELIABLE)


def node(name):
    rclpy.init(args=[])
    return rclpy.create_node(name)


def spinner(node):
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    return executor


def matched(publisher, subscription=None):
    until = now_ns() + int(PATIENCE * 1e9)
    while publisher.get_subscription_count() == 0 or (subscription and subscription.get_publisher_count() == 0):
        if now_ns() > until:
            sys.exit("the other process isn't found")


def spin_until(executor, over):
    while not over:
        executor.spin_once()


def ping_sleep(nanoseconds):
    here, over = node("ping"), []
    publisher = here.create_publisher(String, "there", 10)
    rally = measuring.Rally(nanoseconds, lambda: publisher.publish(String(data=TEXTS[0])), lambda: over.append(True))
    subscription = here.create_subscription(String, "back", lambda message: rally.answer(message.data), 10)
    matched(publisher, subscription)
    executor = spinner(here)
    rally.begin()
    spin_until(executor, over)
    measuring.end(rally.values)


def pong_sleep(_):
    here = node("pong")
    publisher = here.create_publisher(String, "back", 10)
    here.create_subscription(String, "there", lambda message: publisher.publish(String(data=message.data)), 10)
    measuring.ready()
    rclpy.spin(here)


def send(_):
    publisher = node("sender").create_publisher(String, "texts", LOSSLESS)
    measuring.ready()
    matched(publisher)
    while True:
        for text in TEXTS:
            publisher.publish(String(data=text))


def receive(nanoseconds):
    here, over = node("receiver"), []
    received = measuring.Received(nanoseconds, lambda: over.append(True))
    here.create_subscription(String, "texts", lambda message: received.text(message.data), LOSSLESS)
    spin_until(spinner(here), over)
    measuring.end(received.values, received.lost)


def call(nanoseconds):
    here = node("client")
    client = here.create_client(AddTwoInts, "add")
    if not client.wait_for_service(PATIENCE):
        sys.exit("the other process isn't found")
    executor = spinner(here)

    def add():
        future = client.call_async(AddTwoInts.Request(a=20, b=22))
        executor.spin_until_future_complete(future)
        if future.result().sum != 42:
            sys.exit("the sum is wrong")

    measuring.repeat(nanoseconds, add, 1)


def serve(_):
    def add(request, response):
        response.sum = request.a + request.b
        return response

    here = node("server")
    here.create_service(AddTwoInts, "add", add)
    measuring.ready()
    rclpy.spin(here)


def image_out(nanoseconds):
    publisher = node("camera").create_publisher(Image, "image", 4)
    images = measuring.Images(nanoseconds)
    pixels = numpy.empty(measuring.IMAGE, dtype=numpy.uint8)

    def publish():
        began = now_ns()
        elsewhere = images.check(pixels, "/dev/shm") + images.fill(pixels)
        data = array.array("B")
        data.frombytes(pixels)  # the only type that rclpy doesn't check byte by byte
        publisher.publish(Image(height=1, width=1, step=1, encoding="mono8", data=data))
        return now_ns() - began - elsewhere

    if nanoseconds:
        matched(publisher)
    images.run(publish)


def image_in(nanoseconds):
    here, over = node("viewer"), []
    arrived = measuring.Arrived(nanoseconds, lambda: over.append(True))
    here.create_subscription(Image, "image", lambda image: arrived.image(numpy.frombuffer(image.data, numpy.uint8)), 4)
    arrived.begin()
    spin_until(spinner(here), over)
    arrived.end()


def idle(nanoseconds):
    here = node("idle")
    here.create_publisher(String, "there", 10)
    here.create_subscription(String, "back", lambda _: None, 10)
    executor = spinner(here)
    executor.spin_once(0.5)
    resting = measuring.Idle()
    executor.spin_once(nanoseconds / 1e9)
    resting.end()


measuring.play(ping_sleep, pong_sleep, send, receive, call, serve, image_out, image_in, idle)
