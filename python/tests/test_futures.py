"""Futures and tasks."""

import unittest
from unittest import mock

import sinew
from sinew.interfaces.example_interfaces.srv import AddTwoInts
from support import PATIENCE, SinewTest


class Futures(unittest.TestCase):
    def test_every_callback_is_called(self):
        future, called = sinew.Future(), []

        def fail(_):
            raise ValueError("of a callback")

        def interrupt(_):
            raise KeyboardInterrupt

        for callback in (fail, called.append, interrupt, called.append):
            future.add_done_callback(callback)
        with mock.patch("sinew.logging.get_logger") as logger, self.assertRaises(KeyboardInterrupt):
            future.set_result(1)
        self.assertEqual(called, [future, future])
        (call,) = logger.return_value.error.call_args_list
        self.assertIn("ValueError: of a callback", call.args[0])

    def test_callbacks_that_were_removed(self):
        future, called = sinew.Future(), []
        future.add_done_callback(called.append)
        self.assertTrue(future.remove_done_callback(called.append))
        self.assertTrue(future.cancel())
        self.assertFalse(future.cancel())
        self.assertEqual(called, [])


class Tasks(SinewTest):
    def run_all(self):
        while self.executor.spin_some():
            pass

    def test_a_cancelled_task_ends_its_coroutine(self):
        steps, never, cleaned = [], sinew.Future(), sinew.Future()

        async def work():
            steps.append("begun")
            try:
                await never
            except sinew.CancelledError:
                steps.append("cancelled")
                await cleaned
                steps.append("cleaned")
                raise

        task = self.executor.create_task(work)
        self.run_all()
        self.assertTrue(task.cancel())
        self.assertFalse(task.cancel())
        self.assertTrue(task.cancelled() and never.cancelled())
        self.run_all()
        cleaned.set_result(None)
        self.run_all()
        self.assertEqual(steps, ["begun", "cancelled", "cleaned"])

    def test_a_bare_yield(self):
        class Yield:
            def __await__(self):
                yield

        steps = []

        async def work(name):
            for step in range(2):
                steps.append((name, step))
                await Yield()
            return name

        tasks = [self.executor.create_task(work, name) for name in "ab"]
        self.run_all()
        self.assertEqual(steps, [("a", 0), ("b", 0), ("a", 1), ("b", 1)])
        self.assertEqual([task.result() for task in tasks], ["a", "b"])

    def test_cancelled_before_it_begins(self):
        steps = []

        async def work():
            steps.append("begun")

        task = self.executor.create_task(work())
        task.cancel()
        self.run_all()
        self.assertEqual(steps, [])
        with self.assertRaises(sinew.CancelledError):
            task.result()

    def test_cancelled_by_itself(self):
        steps = []

        async def work():
            steps.append(task.cancel())
            try:
                await sinew.Future()
            finally:
                steps.append("over")

        task = self.executor.create_task(work)
        self.run_all()
        self.assertEqual(steps, [True, "over"])

    def test_a_cancelled_task_gives_its_call_up(self):
        waiting = []
        self.node.create_service(
            AddTwoInts, "add", lambda request, responder: waiting.append(responder), deferred=True
        )
        client = self.node.create_client(AddTwoInts, "add")

        async def ask():
            await client.call_async(AddTwoInts.Request())

        task = self.executor.create_task(ask)
        self.spin_until(lambda: waiting)
        task.cancel()
        self.run_all()
        self.assertFalse(waiting[0].is_awaited())

    def test_a_future_that_another_cancels_ends_the_spin(self):
        future = sinew.Future()

        async def wait():
            await future

        task = self.executor.create_task(wait)
        self.run_all()
        future.cancel()
        with self.assertRaises(sinew.CancelledError):
            self.executor.spin_until_future_complete(task, PATIENCE)
        self.assertIsInstance(task.exception(), sinew.CancelledError)


if __name__ == "__main__":
    unittest.main()
