"""iceoryx2 in the roles of `sinew bench languages`: messages are structures of 64 bytes, images are slices of bytes
that are filled where they are received."""

import ctypes
import os
import sys
import time

import iceoryx2 as iox2
import measuring
import numpy
from measuring import TEXTS, now_ns

PATIENCE = 30.0  # seconds


class Text(ctypes.Structure):
    """A text, without the lengths that other systems send with it."""

    _fields_ = [("data", ctypes.c_char * 64)]


TEXT = Text(data=TEXTS[0].encode())


def name(of):
    """Services of a round have names of their own: iceoryx2 has one domain for all processes."""
    return iox2.ServiceName.new(f"{os.environ['SINEW_DIR']}/{of}")


def node():
    return iox2.NodeBuilder.new().create(iox2.ServiceType.Ipc)


def topic(node, of, payload=Text):
    return node.service_builder(name(of)).publish_subscribe(payload).open_or_create()


def event(node, of):
    return node.service_builder(name(of)).event().open_or_create()


def found(is_there):
    until = now_ns() + int(PATIENCE * 1e9)
    while not is_there():
        if now_ns() > until:
            sys.exit("the other process isn't found")
        time.sleep(0.001)


def matched(*topics):
    """Waits until each has a publisher and a subscriber."""
    for topic in topics:
        found(lambda: topic.dynamic_config.number_of_publishers and topic.dynamic_config.number_of_subscribers)


def next_of(subscriber):
    while (sample := subscriber.receive()) is None:
        pass
    return sample


def send_to(publisher, text):
    publisher.loan_uninit().write_payload(text).send()


def text_of(sample):
    text = sample.payload().contents.data
    sample.delete()
    return text


def ends(node, out, back):
    out, back = topic(node, out), topic(node, back)
    return out, out.publisher_builder().create(), back, back.subscriber_builder().create()


def ping_spin(nanoseconds):
    here = node()
    out, publisher, back, subscriber = ends(here, "there", "back")
    matched(out, back)

    def there_and_back():
        send_to(publisher, TEXT)
        text_of(next_of(subscriber))

    measuring.repeat(nanoseconds, there_and_back)


def pong_spin(nanoseconds):
    here = node()
    _out, publisher, _back, subscriber = ends(here, "back", "there")
    measuring.repeat(nanoseconds, lambda: send_to(publisher, Text(data=text_of(next_of(subscriber)))))


def sleeping(node, out, back):
    """Adds the events by which each side wakes the other one."""
    notifier = event(node, f"{out} event").notifier_builder().create()
    listener = event(node, f"{back} event").listener_builder().create()
    return notifier, listener


def ping_sleep(nanoseconds):
    here = node()
    out, publisher, back, subscriber = ends(here, "there", "back")
    notifier, listener = sleeping(here, "there", "back")
    matched(out, back)

    def there_and_back():
        send_to(publisher, TEXT)
        notifier.notify()
        while (sample := subscriber.receive()) is None:
            listener.blocking_wait()
        text_of(sample)

    measuring.repeat(nanoseconds, there_and_back, 1)


def pong_sleep(nanoseconds):
    here = node()
    _out, publisher, _back, subscriber = ends(here, "back", "there")
    notifier, listener = sleeping(here, "back", "there")

    def back_again():
        while (sample := subscriber.receive()) is None:
            listener.blocking_wait()
        send_to(publisher, Text(data=text_of(sample)))
        notifier.notify()

    measuring.repeat(nanoseconds, back_again)


def images(node):
    return topic(node, "image", iox2.Slice[ctypes.c_uint8])


def array(of):
    return numpy.frombuffer(of.as_memory_view(), numpy.uint8)


def image_out(nanoseconds):
    here = node()
    service = images(here)
    publisher = service.publisher_builder().initial_max_slice_len(measuring.IMAGE).create()
    notifier = event(here, "image event").notifier_builder().create()
    images_out = measuring.Images(nanoseconds)

    def publish():
        began = now_ns()
        loan = publisher.loan_slice_uninit(measuring.IMAGE)
        elsewhere = images_out.fill(array(loan.payload()))
        loan.assume_init().send()
        notifier.notify()
        return now_ns() - began - elsewhere

    if nanoseconds:
        matched(service)
    images_out.run(publish)


def image_in(nanoseconds):
    here = node()
    subscriber = images(here).subscriber_builder().create()
    listener = event(here, "image event").listener_builder().create()
    is_over = []
    arrived = measuring.Arrived(nanoseconds, lambda: is_over.append(True))
    arrived.begin()
    while not is_over:
        while (sample := subscriber.receive()) is None:
            listener.blocking_wait()
        arrived.image(array(sample.payload()), "/dev/shm")
        sample.delete()
    arrived.end()


iox2.set_log_level(iox2.LogLevel.Error)
measuring.play(ping_spin, pong_spin, ping_sleep, pong_sleep, image_out, image_in)
