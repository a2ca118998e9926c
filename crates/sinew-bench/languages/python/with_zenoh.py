"""zenoh in the roles of `sinew bench languages`: peers on the loopback, as `bench/peers/zenoh` has them."""

import json
import os
import sys
import threading

import measuring
import numpy
import zenoh
from measuring import TEXTS, now_ns

PATIENCE = 30.0  # seconds


def session(listens):
    """Opens a session. The listening one leaves its address in the round's directory."""
    address = f"unixsock-stream/{os.environ['SINEW_DIR']}/zenoh"
    config = zenoh.Config()
    settings = {
        "mode": "peer",
        "scouting/multicast/enabled": False,
        "scouting/gossip/enabled": False,
        "listen/endpoints": [address] if listens else [],
        "connect/endpoints": [] if listens else [address],
    }
    for key, value in settings.items():
        config.insert_json5(key, json.dumps(value))
    return zenoh.open(config)


def publisher(session, key, express=True):
    return session.declare_publisher(key, congestion_control=zenoh.CongestionControl.BLOCK, express=express)


def matched(publisher):
    until = now_ns() + int(PATIENCE * 1e9)
    while not publisher.matching_status.matching:
        if now_ns() > until:
            sys.exit("the other process isn't found")


def subscription(session, key, callback):
    """The callback runs on the thread that receives, which is the fastest way."""
    return session.declare_subscriber(key, zenoh.handlers.Callback(callback, indirect=False))


def ping_sleep(nanoseconds):
    here, over = session(False), threading.Event()
    there = publisher(here, "there")
    rally = measuring.Rally(nanoseconds, lambda: there.put(TEXTS[0]), over.set)
    _back = subscription(here, "back", lambda sample: rally.answer(sample.payload.to_string()))
    matched(there)
    rally.begin()
    over.wait()
    measuring.end(rally.values)


def pong_sleep(_):
    here = session(True)
    back = publisher(here, "back")
    _there = subscription(here, "there", lambda sample: back.put(sample.payload.to_string()))
    measuring.ready()
    threading.Event().wait()


def send(_):
    here = session(True)
    texts = publisher(here, "texts", express=False)
    measuring.ready()
    matched(texts)
    while True:
        for text in TEXTS:
            texts.put(text)


def receive(nanoseconds):
    over = threading.Event()
    received = measuring.Received(nanoseconds, over.set)
    here = session(False)
    _texts = subscription(here, "texts", lambda sample: received.text(sample.payload.to_string()))
    over.wait()
    measuring.end(received.values, received.lost)


def call(nanoseconds):
    here = session(False)
    querier = here.declare_querier("add", express=True)
    numbers = numpy.array([20, 22], dtype=numpy.int64).tobytes()
    until = now_ns() + int(PATIENCE * 1e9)
    while not querier.matching_status.matching:
        if now_ns() > until:
            sys.exit("the other process isn't found")

    def add():
        for reply in querier.get(payload=numbers):
            if int.from_bytes(reply.ok.payload.to_bytes(), "little") != 42:
                sys.exit("the sum is wrong")

    measuring.repeat(nanoseconds, add, 1)


def serve(_):
    def add(query):
        numbers = query.payload.to_bytes()
        total = int.from_bytes(numbers[:8], "little") + int.from_bytes(numbers[8:], "little")
        with query:
            query.reply("add", total.to_bytes(8, "little"))

    here = session(True)
    _sums = here.declare_queryable("add", zenoh.handlers.Callback(add, indirect=False))
    measuring.ready()
    threading.Event().wait()


def image_out(nanoseconds):
    images = measuring.Images(nanoseconds)
    pixels = numpy.empty(measuring.IMAGE, dtype=numpy.uint8)
    here = session(nanoseconds == 0)
    image = publisher(here, "image")
    if nanoseconds:
        matched(image)

    def publish():
        began = now_ns()
        elsewhere = images.check(pixels, os.environ["SINEW_DIR"]) + images.fill(pixels)
        image.put(pixels.tobytes())
        return now_ns() - began - elsewhere

    images.run(publish)


def image_in(nanoseconds):
    over = threading.Event()
    arrived = measuring.Arrived(nanoseconds, over.set)
    here = session(nanoseconds == 0)
    _images = subscription(
        here, "image", lambda sample: arrived.image(numpy.frombuffer(sample.payload.to_bytes(), numpy.uint8))
    )
    arrived.begin()
    over.wait()
    arrived.end()


measuring.play(ping_sleep, pong_sleep, send, receive, call, serve, image_out, image_in)
