"""Nodes in asyncio."""

import asyncio
import threading
import unittest
from unittest import mock

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

    async def test_async_for_again_after_a_break(self):
        subscription = self.node.create_subscription(Int64, "numbers")
        publisher = self.node.create_publisher(Int64, "numbers", 10)
        for number in range(3):
            asyncio.get_running_loop().call_later(0.001, publisher.publish, Int64(data=number))
            async for message in subscription:
                self.assertEqual(message.data, number)
                break

    async def test_destruction_ends_async_for(self):
        async def listen(subscription):
            async for _ in subscription:
                pass

        for destroy in (self.node.destroy_subscription, lambda _: self.node.destroy_node()):
            subscription = self.node.create_subscription(Int64, "numbers")
            waiting = asyncio.create_task(listen(subscription))
            await asyncio.sleep(0.001)
            self.assertFalse(waiting.done())
            destroy(subscription)
            await asyncio.wait_for(waiting, PATIENCE)
            await asyncio.wait_for(listen(subscription), PATIENCE)

    async def test_a_loop_that_is_cancelled_after_destruction(self):
        subscription = self.node.create_subscription(Int64, "numbers")

        async def listen():
            async for _ in subscription:
                pass

        waiting = asyncio.create_task(listen())
        await asyncio.sleep(0.001)
        subscription.destroy()
        waiting.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await waiting

    async def test_a_timer_and_a_sleep(self):
        async with aio.spinning(self.node):
            for seconds in (0.001, 0, sinew.Duration(nanoseconds=1000)):
                await asyncio.wait_for(aio.sleep(self.node, seconds), PATIENCE)

    async def test_a_sleep_that_another_thread_ends(self):
        executor = sinew.SingleThreadedExecutor()
        executor.add_node(self.node)
        spinning = threading.Thread(target=executor.spin)
        spinning.start()
        await asyncio.wait_for(aio.sleep(self.node, 0.001), PATIENCE / 2)
        executor.stop()
        spinning.join()

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

    async def test_an_exception_of_a_coroutine(self):
        async def fail():
            await asyncio.sleep(0)
            1 // 0

        timer = self.node.create_timer(0.001, fail)
        with self.assertRaises(ZeroDivisionError):
            await asyncio.wait_for(aio.spin(self.node), PATIENCE)
        with self.assertRaises(ZeroDivisionError):
            async with aio.spinning(self.node):
                await asyncio.get_running_loop().create_future()
        self.assertEqual(asyncio.current_task().cancelling(), 0)
        self.node.destroy_timer(timer)

        async def answer(request, response):
            await fail()

        self.node.create_service(AddTwoInts, "add", answer)
        call = self.node.create_client(AddTwoInts, "add").call_async(AddTwoInts.Request())
        with self.assertRaises(ZeroDivisionError):
            await asyncio.wait_for(aio.spin(self.node), PATIENCE)
        self.assertIn("ZeroDivisionError", str(call.exception()))

    async def test_an_exception_of_a_coroutine_is_logged(self):
        failed = asyncio.Event()

        async def fail():
            if failed.is_set():
                return
            failed.set()
            1 // 0

        async def cancel():
            asyncio.current_task().cancel()
            await asyncio.sleep(0)

        self.node.create_timer(0.001, cancel)
        self.node.create_timer(0.001, fail)
        with mock.patch("sinew.logging.get_logger") as logger:
            async with aio.spinning(self.node, executor=sinew.SingleThreadedExecutor(on_error="continue")):
                await asyncio.wait_for(failed.wait(), PATIENCE)
                await asyncio.sleep(0.01)
        (call,) = logger.return_value.error.call_args_list
        self.assertIn("ZeroDivisionError", call.args[0])

    async def test_the_end_cancels_coroutines(self):
        begun, ended = asyncio.Event(), []

        async def wait():
            begun.set()
            try:
                await asyncio.get_running_loop().create_future()
            except asyncio.CancelledError:
                await asyncio.sleep(0)
                ended.append("cancelled")
                raise

        self.node.create_guard_condition(wait).trigger()
        async with aio.spinning(self.node):
            await asyncio.wait_for(begun.wait(), PATIENCE)
        self.assertEqual(ended, ["cancelled"])

    async def test_a_stop_ends_it(self):
        for thread in (False, True):
            for end in (sinew.Executor.stop, sinew.Executor.shutdown):
                executor = sinew.SingleThreadedExecutor()
                spinning = asyncio.create_task(aio.spin(self.node, executor=executor))
                await asyncio.sleep(0.001)
                self.assertFalse(spinning.done())
                if thread:
                    await asyncio.to_thread(end, executor)
                else:
                    end(executor)
                await asyncio.wait_for(spinning, PATIENCE)
                self.assertIsNone(self.node.executor)
        heard = asyncio.Event()
        self.node.create_timer(0.001, heard.set)
        async with aio.spinning(self.node, executor=executor):  # the stop is over
            await asyncio.wait_for(heard.wait(), PATIENCE)
        executor.add_node(self.node)
        self.assertTrue(executor.spin_once(PATIENCE))

    async def test_a_stop_by_a_callback(self):
        executor = sinew.SingleThreadedExecutor()
        self.node.create_timer(0.001, executor.stop)
        await asyncio.wait_for(aio.spin(self.node, executor=executor), PATIENCE)

    async def test_tasks_of_the_executor_await_futures(self):
        future, executor = sinew.Future(), sinew.SingleThreadedExecutor()

        async def work():
            return await future

        async with aio.spinning(self.node, executor=executor):
            task = executor.create_task(work())
            await asyncio.sleep(0.001)
            future.set_result(7)
            self.assertEqual(await asyncio.wait_for(task, PATIENCE), 7)

    async def test_a_spin_that_blocks_the_loop(self):
        """As in a cell of a notebook: coroutines of callbacks go on, though the loop does not."""
        executor, asked = sinew.SingleThreadedExecutor(), sinew.Future()
        executor.add_node(self.node)

        async def add(request, response):
            await asked
            response.sum = request.a + request.b
            return response

        async def work():
            return (await client.call_async(AddTwoInts.Request(a=1, b=2))).sum

        self.node.create_service(AddTwoInts, "add", add)
        client = self.node.create_client(AddTwoInts, "add")
        self.node.create_timer(0.001, lambda: asked.set_result(None))
        task = executor.create_task(work)
        self.assertTrue(executor.spin_until_future_complete(task, PATIENCE))
        self.assertEqual(task.result(), 3)

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
