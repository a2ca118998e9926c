"""Sinew in the roles of `sinew bench languages`."""

import os
import sys

import measuring
import sinew
from measuring import TEXTS, now_ns
from sinew.interfaces.example_interfaces.srv import AddTwoInts
from sinew.interfaces.sensor_msgs.msg import Image
from sinew.interfaces.std_msgs.msg import String
from sinew.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy

PATIENCE = 30.0  # seconds

#: The publisher waits for the reader.
LOSSLESS = QoSProfile(history=HistoryPolicy.KEEP_ALL, reliability=ReliabilityPolicy.RELIABLE)


def node(name):
    sinew.init()
    return sinew.Node(name)


def spinner(node):
    executor = sinew.SingleThreadedExecutor()
    executor.add_node(node)
    return executor


def found(there):
    if not there:
        sys.exit("the other process isn't found")


def next_of(subscription):
    while (taken := subscription.take()) is None:
        pass
    return taken[0].data


def ping_spin(nanoseconds):
    here = node("ping")
    publisher = here.create_publisher(String, "there", 10)
    subscription = here.create_subscription(String, "back", None, 10)
    found(publisher.wait_for_subscriptions(1, PATIENCE) and subscription.wait_for_publishers(1, PATIENCE))

    def there_and_back():
        publisher.publish(String(data=TEXTS[0]))
        next_of(subscription)

    measuring.repeat(nanoseconds, there_and_back)


def pong_spin(nanoseconds):
    here = node("pong")
    publisher = here.create_publisher(String, "back", 10)
    subscription = here.create_subscription(String, "there", None, 10)
    measuring.repeat(nanoseconds, lambda: publisher.publish(String(data=next_of(subscription))))


def ping_sleep(nanoseconds):
    here = node("ping")
    publisher = here.create_publisher(String, "there", 10)
    executor = spinner(here)
    rally = measuring.Rally(nanoseconds, lambda: publisher.publish(String(data=TEXTS[0])), executor.stop)
    subscription = here.create_subscription(String, "back", lambda message: rally.answer(message.data), 10)
    found(publisher.wait_for_subscriptions(1, PATIENCE) and subscription.wait_for_publishers(1, PATIENCE))
    rally.begin()
    executor.spin()
    measuring.end(rally.values)


def pong_sleep(_):
    here = node("pong")
    publisher = here.create_publisher(String, "back", 10)
    here.create_subscription(String, "there", lambda message: publisher.publish(String(data=message.data)), 10)
    measuring.ready()
    sinew.spin(here)


def send(_):
    publisher = node("sender").create_publisher(String, "texts", LOSSLESS)
    measuring.ready()
    publisher.wait_for_subscriptions(1, PATIENCE)
    while True:
        for text in TEXTS:
            publisher.publish(String(data=text))


def receive(nanoseconds):
    here = node("receiver")
    executor = spinner(here)
    received = measuring.Received(nanoseconds, executor.stop)
    here.create_subscription(String, "texts", lambda message: received.text(message.data), LOSSLESS)
    executor.spin()
    measuring.end(received.values, received.lost)


def call(nanoseconds):
    client = node("client").create_client(AddTwoInts, "add")
    found(client.wait_for_service(PATIENCE))

    def add():
        if client.call(AddTwoInts.Request(a=20, b=22)).sum != 42:
            sys.exit("the sum is wrong")

    measuring.repeat(nanoseconds, add, 1)


def serve(_):
    def add(request, response):
        response.sum = request.a + request.b
        return response

    here = node("server")
    here.create_service(AddTwoInts, "add", add)
    measuring.ready()
    sinew.spin(here)


def image_out(nanoseconds):
    publisher = node("camera").create_publisher(Image, "image", 4)
    images = measuring.Images(nanoseconds)

    def publish():
        began = now_ns()
        with publisher.draft(height=1, width=1, step=1, encoding="mono8", data=measuring.IMAGE) as draft:
            pixels = draft.data
            elsewhere = images.check(pixels, os.environ["SINEW_DIR"]) + images.fill(pixels)
            del pixels
        return now_ns() - began - elsewhere

    if nanoseconds:
        found(publisher.wait_for_subscriptions(1, PATIENCE))
    images.run(publish)


def image_in(nanoseconds):
    here = node("viewer")
    executor = spinner(here)
    arrived = measuring.Arrived(nanoseconds, executor.stop)
    here.create_subscription(Image, "image", lambda image: arrived.image(image.data, os.environ["SINEW_DIR"]), 4)
    arrived.begin()
    executor.spin()
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


measuring.play(ping_spin, pong_spin, ping_sleep, pong_sleep, send, receive, call, serve, image_out, image_in, idle)
