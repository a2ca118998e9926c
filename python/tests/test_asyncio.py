"""Nodes in asyncio."""

import asyncio
import unittest

import sinew
from sinew import aio
from sinew.interfaces.example_interfaces.srv import AddTwoInts
from sinew.interfaces.std_msgs.msg import Int64
from support import PATIENCE


class Asyncio(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.context = sinew.Context()
        self.context.init([], signals=False)
        self.node = sinew.Node("loop", context=self.context)

    async def asyncTearDown(self):
        self.node.destroy_node()
        self.context.try_shutdown()

    async def test_callbacks_run_in_the_loop(self):
        heard = asyncio.Queue()
        self.node.create_subscription(Int64, "numbers", lambda message: heard.put_nowait(message.data), 10)
        publisher = self.node.create_publisher(Int64, "numbers", 10)
        async with aio.spinning(self.node):
            for number in range(5):
                publisher.publish(Int64(data=number))
                self.assertEqual(await asyncio.wait_for(heard.get(), PATIENCE), number)

    async def test_coroutines_await_asyncio_and_calls(self):
        done = asyncio.get_running_loop().create_future()

        async def add(request, response):
            await asyncio.sleep(0)
            response.sum = request.a + request.b
            return response

        async def ask(message):
            answer = await client.call_async(AddTwoInts.Request(a=message.data, b=1))
            done.set_result(answer.sum)

        self.node.create_service(AddTwoInts, "add", add)
        client = self.node.create_client(AddTwoInts, "add")
        self.node.create_subscription(Int64, "numbers", ask, 10)
        async with aio.spinning(self.node):
            self.node.create_publisher(Int64, "numbers", 10).publish(Int64(data=41))
            self.assertEqual(await asyncio.wait_for(done, PATIENCE), 42)

    async def test_async_for(self):
        subscription = self.node.create_subscription(Int64, "numbers")
        publisher = self.node.create_publisher(Int64, "numbers", 10)

        async def publish():
            for number in range(3):
                publisher.publish(Int64(data=number))
                await asyncio.sleep(0)

        task = asyncio.create_task(publish())
        heard = []
        async for message in subscription:
            heard.append(message.data)
            if len(heard) == 3:
                break
        await task
        self.assertEqual(heard, [0, 1, 2])

    async def test_a_timer_and_a_sleep(self):
        async with aio.spinning(self.node):
            await asyncio.wait_for(aio.sleep(self.node, 0.001), PATIENCE)

    async def test_an_exception_of_a_callback(self):
        self.node.create_timer(0.001, lambda: 1 // 0)
        with self.assertRaises(ZeroDivisionError):
            await asyncio.wait_for(aio.spin(self.node), PATIENCE)

    async def test_an_exception_ends_the_block(self):
        self.node.create_timer(0.001, lambda: 1 // 0)
        with self.assertRaises(ZeroDivisionError):
            async with aio.spinning(self.node):
                await asyncio.get_running_loop().create_future()
        self.assertEqual(asyncio.current_task().cancelling(), 0)

    async def test_a_shutdown_ends_it(self):
        self.node.create_timer(0.001, self.context.shutdown)
        with self.assertRaises(sinew.ExternalShutdownException):
            await asyncio.wait_for(aio.spin(self.node), PATIENCE)

    async def test_it_is_cancelled(self):
        task = asyncio.create_task(aio.spin(self.node))
        await asyncio.sleep(0)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertIsNone(self.node.executor)

    async def test_a_cancelled_call_is_given_up(self):
        client = self.node.create_client(AddTwoInts, "add")
        self.node.create_service(AddTwoInts, "add", lambda request, responder: None, deferred=True)
        call = client.call_async(AddTwoInts.Request())
        with self.assertRaises((asyncio.TimeoutError, sinew.ServiceError)):
            await asyncio.wait_for(call, 0.001)
        self.assertTrue(call.done())


if __name__ == "__main__":
    unittest.main()
