"""Waits: they end at a shutdown, need no executor where the library needs none, and don't lock each other."""

import asyncio
import threading
import unittest

import sinew
from sinew import aio
from sinew.action import ActionClient, ActionServer, CancelResponse
from sinew.interfaces.example_interfaces.action import Fibonacci
from sinew.interfaces.example_interfaces.srv import AddTwoInts
from sinew.interfaces.std_msgs.msg import Int64
from sinew.parameter_client import AsyncParameterClient
from sinew.rclpy_compat.wait_for_message import wait_for_message
from sinew.tf import Buffer, TransformListener
from support import PATIENCE, SinewTest, finish, program


def listening(node):
    """Returns a buffer that knows its context by its listener."""
    buffer = Buffer()
    TransformListener(buffer, node)
    return buffer


WAITS = {
    "a server": lambda node: node.create_client(AddTwoInts, "none").wait_for_service(PATIENCE),
    "a response": lambda node: node.create_client(AddTwoInts, "none").call(AddTwoInts.Request(), PATIENCE),
    "a node": lambda node: node.wait_for_node("nobody", PATIENCE),
    "a subscription": lambda node: node.create_publisher(Int64, "none").wait_for_subscriptions(1, PATIENCE),
    "a publisher": lambda node: node.create_subscription(Int64, "none").wait_for_publishers(1, PATIENCE),
    "parameters": lambda node: AsyncParameterClient(node, "nobody").wait_for_services(PATIENCE),
    "an action server": lambda node: ActionClient(node, Fibonacci, "none").wait_for_server(PATIENCE),
    "a goal": lambda node: ActionClient(node, Fibonacci, "none").send_goal(Fibonacci.Goal(), timeout_sec=PATIENCE),
    "a message": lambda node: wait_for_message(Int64, node, "none", time_to_wait=PATIENCE),
    "a transform": lambda node: listening(node).lookup_transform("a", "b", sinew.Time(), timeout=PATIENCE),
    "a transform of a node": lambda node: Buffer(node=node).lookup_transform("a", "b", sinew.Time(), timeout=PATIENCE),
    "a time": lambda node: node.get_clock().sleep_for(sinew.Duration(seconds=PATIENCE)),
    "a rate": lambda node: node.create_rate(1 / PATIENCE).sleep(),
    "a future": lambda node: sinew.spin_until_future_complete(node, sinew.Future(), timeout_sec=PATIENCE),
}


class Shutdown(unittest.TestCase):
    def setUp(self):
        self.context = sinew.Context()
        self.context.init([], signals=False)
        self.node = sinew.Node("waits", context=self.context)
        self.addCleanup(self.context.try_shutdown)

    def in_time(self):
        """Shuts down while this thread waits."""
        timer = threading.Timer(0.001, self.context.shutdown)
        timer.start()
        self.addCleanup(timer.join)

    def test_every_wait_ends(self):
        for name, wait in WAITS.items():
            with self.subTest(name):
                self.setUp()
                self.in_time()
                with self.assertRaises(sinew.ExternalShutdownException):
                    wait(self.node)
                self.node.destroy_node()

    def test_a_wait_in_a_callback_ends(self):
        executor, ended = sinew.SingleThreadedExecutor(), []
        executor.add_node(self.node)

        def tick():
            timer.cancel()
            client = self.node.create_client(AddTwoInts, "none")
            self.in_time()
            waits = (
                lambda: client.call(AddTwoInts.Request()),
                lambda: executor.spin_until_future_complete(client.call_async(AddTwoInts.Request())),
                lambda: executor.spin_until_future_complete(sinew.Future()),
            )
            for wait in waits:
                with self.assertRaises(sinew.ExternalShutdownException):
                    wait()
                ended.append(wait)

        timer = self.node.create_timer(0.001, tick)
        with self.assertRaises(sinew.ExternalShutdownException):
            executor.spin()
        self.assertEqual(len(ended), 3)

    def test_asyncio(self):
        async def main():
            subscription, seen = self.node.create_subscription(Int64, "numbers"), []
            self.node.create_publisher(Int64, "numbers").publish(Int64(data=7))
            buffer, client = listening(self.node), self.node.create_client(AddTwoInts, "none")

            async def wait(future):
                return await future

            waiting = [
                asyncio.create_task(aio.sleep(self.node, PATIENCE)),
                asyncio.create_task(wait(client.call_async(AddTwoInts.Request()))),
                asyncio.create_task(buffer.lookup_transform_async("a", "b", sinew.Time())),
            ]
            async for message in subscription:
                seen.append(message.data)
                self.in_time()
            self.assertEqual(seen, [7])
            for task in waiting:
                with self.assertRaises(sinew.ExternalShutdownException):
                    await task

        asyncio.run(asyncio.wait_for(main(), PATIENCE))


class WithoutSpin(SinewTest):
    def test_a_call(self):
        """The client's executor isn't spun: the thread that calls receives the response itself."""
        child = program("""
    from sinew.interfaces.example_interfaces.srv import AddTwoInts

    def add(request, response):
        response.sum = request.a + request.b
        return response

    sinew.init([])
    node = sinew.Node("server")
    node.create_service(AddTwoInts, "add", add)
    support.say("ready")
    try:
        sinew.spin(node)
    except sinew.ExternalShutdownException:
        pass
    """)
        self.addCleanup(finish, child)
        self.addCleanup(child.terminate)
        self.assertEqual(child.stdout.readline(), "ready\n")
        client = self.node.create_client(AddTwoInts, "add")
        for limit in (PATIENCE, sinew.Duration(seconds=PATIENCE), -1, None):
            self.assertEqual(client.call(AddTwoInts.Request(a=1, b=2), limit).sum, 3)

    def test_no_server(self):
        with self.assertRaisesRegex(TimeoutError, "no server"):
            self.node.create_client(AddTwoInts, "none").call(AddTwoInts.Request(), 0.001)


class Cancelling(SinewTest):
    """A callback cancels a goal, and waits for the answer."""

    def cancel(self, group):
        begun = sinew.Future()

        async def execute(goal):
            woken = sinew.Future()
            goal.on_cancel_requested(lambda: woken.set_result(None))
            begun.set_result(None)
            await woken
            goal.canceled()
            return Fibonacci.Result()

        ActionServer(
            self.node,
            Fibonacci,
            "fibonacci",
            execute,
            callback_group=group,
            cancel_callback=lambda goal: CancelResponse.ACCEPT,
        )
        sent = ActionClient(self.node, Fibonacci, "fibonacci").send_goal_async(Fibonacci.Goal())
        self.executor.spin_until_future_complete(sent, PATIENCE)
        self.executor.spin_until_future_complete(begun, PATIENCE)
        answers = []

        def tick():
            timer.cancel()
            answers.append(sent.result().cancel_goal(PATIENCE))

        timer = self.node.create_timer(0.001, tick)
        self.spin_until(timer.is_canceled)
        return answers

    def test_the_waiting_thread_runs_the_server(self):
        (answer,) = self.cancel(sinew.MutuallyExclusiveCallbackGroup())
        self.assertEqual(len(answer.goals_canceling), 1)

    def test_a_deadlock_is_an_error(self):
        with self.assertRaisesRegex(sinew.ServiceError, "never end"):
            self.cancel(None)  # the server decides in the group of the timer


if __name__ == "__main__":
    unittest.main()
