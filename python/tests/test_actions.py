"""Actions: goals, feedback, results, cancelling; in one process and in several."""

import asyncio
import gc
import os
import pathlib
import subprocess
import threading
import unittest

import sinew
from sinew.action import ActionClient, ActionServer, CancelResponse, GoalResponse, GoalStatus
from sinew.interfaces.action_msgs.srv import CancelGoal
from sinew.interfaces.example_interfaces.action import Fibonacci
from sinew.interfaces.geometry_msgs.msg import TransformStamped
from sinew.interfaces.tf2_msgs.msg import TFMessage
from support import PATIENCE, SinewTest, built, finish, program

REPOSITORY = pathlib.Path(os.environ.get("SINEW_REPOSITORY") or pathlib.Path(__file__).resolve().parents[2])


def fibonacci(goal):
    """Executes a goal until it is cancelled."""
    sequence = [0, 1]
    for _ in range(1, goal.request.order):
        if goal.is_cancel_requested:
            goal.canceled()
            return Fibonacci.Result(sequence=sequence)
        sequence.append(sequence[-1] + sequence[-2])
        goal.publish_feedback(Fibonacci.Feedback(sequence=sequence))
    goal.succeed()
    return Fibonacci.Result(sequence=sequence)


class Actions(SinewTest):
    def serve(self, execute=fibonacci, **options):
        server = ActionServer(self.node, Fibonacci, "fibonacci", execute, **options)
        self.client = ActionClient(self.node, Fibonacci, "fibonacci", feedback_depth=100)
        return server

    def finished(self, future):
        self.assertTrue(self.executor.spin_until_future_complete(future, PATIENCE))
        return future.result()

    def send(self, order=5, feedback=None):
        return self.finished(self.client.send_goal_async(Fibonacci.Goal(order=order), feedback))

    def test_a_goal(self):
        self.serve()
        self.assertTrue(self.client.server_is_ready())
        self.assertTrue(self.client.wait_for_server(PATIENCE))
        seen = []
        goal = self.send(5, seen.append)
        self.assertTrue(goal.accepted)
        self.assertEqual(len(goal.goal_id.uuid), 16)
        self.assertGreater(goal.stamp.sec, 0)
        result = self.finished(goal.get_result_async())
        self.assertEqual((result.status, list(result.result.sequence)), (GoalStatus.STATUS_SUCCEEDED, [0, 1, 1, 2, 3, 5]))
        self.assertEqual([list(message.feedback.sequence) for message in seen][:2], [[0, 1, 1], [0, 1, 1, 2]])
        self.assertEqual(len(seen), 4)
        self.assertEqual(bytes(seen[0].goal_id.uuid), bytes(goal.goal_id.uuid))
        self.assertEqual(goal.status, GoalStatus.STATUS_SUCCEEDED)
        self.assertIs(self.finished(goal.get_result_async()), result)

    def test_a_goal_is_rejected(self):
        self.serve(goal_callback=lambda goal: GoalResponse.ACCEPT if goal.order < 10 else GoalResponse.REJECT)
        self.assertTrue(self.send(5).accepted)
        goal = self.send(10)
        self.assertFalse(goal.accepted)
        with self.assertRaisesRegex(sinew.SinewError, "rejected"):
            goal.get_result_async()

    def test_a_goal_is_cancelled(self):
        begun, woken = sinew.Future(), sinew.Future()

        async def execute(goal):
            goal.on_cancel_requested(lambda: woken.set_result(None))
            begun.set_result(None)
            await woken
            self.assertTrue(goal.is_cancel_requested)
            self.assertEqual(goal.status, GoalStatus.STATUS_CANCELING)
            goal.canceled()
            return Fibonacci.Result(sequence=[7])

        asked = []
        self.serve(execute, cancel_callback=lambda goal: asked.append(goal) or CancelResponse.ACCEPT)
        goal = self.send()
        self.finished(begun)
        answer = self.finished(goal.cancel_goal_async())
        self.assertEqual(answer.return_code, CancelGoal.Response.ERROR_NONE)
        self.assertEqual(bytes(answer.goals_canceling[0].goal_id.uuid), bytes(goal.goal_id.uuid))
        self.assertEqual(asked[0].request.order, 5)
        result = self.finished(goal.get_result_async())
        self.assertEqual((result.status, list(result.result.sequence)), (GoalStatus.STATUS_CANCELED, [7]))
        answer = self.finished(goal.cancel_goal_async())
        self.assertEqual(answer.return_code, CancelGoal.Response.ERROR_GOAL_TERMINATED)

    def test_a_cancel_is_rejected(self):
        kept = []
        self.serve(handle_accepted_callback=kept.append)
        goal = self.send()
        self.assertEqual(self.finished(goal.cancel_goal_async()).return_code, CancelGoal.Response.ERROR_REJECTED)

    def test_a_goal_that_the_program_has_not_got_is_asked_for_again(self):
        class Late(ActionServer):
            asks = 0

            def _lets_cancel(self, goal_id):
                self.asks += 1
                return None if self.asks == 1 else super()._lets_cancel(goal_id)

        kept = []
        accepts = {"handle_accepted_callback": kept.append, "cancel_callback": lambda goal: CancelResponse.ACCEPT}
        server = Late(self.node, Fibonacci, "fibonacci", **accepts)
        self.client = ActionClient(self.node, Fibonacci, "fibonacci")
        goal = self.send()
        self.assertEqual(len(self.finished(goal.cancel_goal_async()).goals_canceling), 1)
        self.assertEqual(server.asks, 2)
        self.assertTrue(kept[0].is_cancel_requested)

    def test_deferred_goals(self):
        kept = []
        self.serve(handle_accepted_callback=kept.append)
        goals = [self.send(order) for order in (2, 3)]
        self.assertEqual([goal.status for goal in kept], [GoalStatus.STATUS_ACCEPTED] * 2)
        with self.assertRaises(sinew.SinewError):
            kept[0].succeed()
        kept[1].execute()
        with self.assertRaisesRegex(sinew.SinewError, "begun"):
            kept[1].execute()
        self.assertEqual(list(self.finished(goals[1].get_result_async()).result.sequence), [0, 1, 1, 2])
        kept.clear()  # a forgotten goal is canceled
        gc.collect()
        self.assertEqual(self.finished(goals[0].get_result_async()).status, GoalStatus.STATUS_CANCELED)

    def test_a_goal_without_a_callback(self):
        kept = []
        self.client = ActionClient(self.node, Fibonacci, "fibonacci")
        with self.assertRaisesRegex(TypeError, "handle_accepted_callback"):
            ActionServer(self.node, Fibonacci, "fibonacci")
        ActionServer(self.node, Fibonacci, "fibonacci", handle_accepted_callback=kept.append)
        for response, sequence in ((Fibonacci.Result(sequence=[3]), [3]), (None, [])):
            result = self.send().get_result_async()
            handle = kept.pop()
            with self.assertRaisesRegex(TypeError, "no callback"):
                handle.execute()
            handle.executing()
            self.assertEqual(handle.status, GoalStatus.STATUS_EXECUTING)
            handle.succeed(response)
            result = self.finished(result)
            self.assertEqual((result.status, list(result.result.sequence)), (GoalStatus.STATUS_SUCCEEDED, sequence))

    def test_goals_that_fail(self):
        def fail(goal):
            raise ValueError("no fuel")

        self.serve(fail)
        goal = self.client.send_goal_async(Fibonacci.Goal())
        with self.assertRaisesRegex(ValueError, "no fuel"):
            self.executor.spin()
        result = self.finished(self.finished(goal).get_result_async())
        self.assertEqual(result.status, GoalStatus.STATUS_ABORTED)

    def test_a_goal_that_nothing_ends_is_aborted(self):
        self.serve(lambda goal: Fibonacci.Result(sequence=[9]))
        result = self.finished(self.send().get_result_async())
        self.assertEqual((result.status, list(result.result.sequence)), (GoalStatus.STATUS_ABORTED, [9]))

    def test_wrong_values(self):
        with self.assertRaisesRegex(TypeError, "action class"):
            ActionClient(self.node, Fibonacci.Goal, "fibonacci")
        with self.assertRaisesRegex(sinew.InvalidNameError, "action name `a b`"):
            ActionClient(self.node, Fibonacci, "a b")
        with self.assertRaisesRegex(ValueError, "result_timeout is -1"):
            ActionServer(self.node, Fibonacci, "fibonacci", print, result_timeout=-1)
        with ActionClient(self.node, Fibonacci, "none") as client:
            with self.assertRaisesRegex(TimeoutError, "within 0.001 s; it is given up"):
                client.send_goal(Fibonacci.Goal(), timeout_sec=0.001)
        self.serve(lambda goal: goal.succeed(), goal_callback=lambda goal: True)
        with self.assertRaises(TypeError):
            self.client.send_goal_async(Fibonacci.Result())
        future = self.client.send_goal_async(Fibonacci.Goal())
        with self.assertRaisesRegex(TypeError, "GoalResponse"):
            self.executor.spin()
        self.assertFalse(self.finished(future).accepted)

    def test_a_call_inside_a_callback(self):
        self.serve(callback_group=sinew.MutuallyExclusiveCallbackGroup())
        results, done = [], sinew.Future()

        def tick():
            timer.cancel()
            results.append(self.client.send_goal(Fibonacci.Goal(order=3), timeout_sec=PATIENCE))
            future = self.client.send_goal_async(Fibonacci.Goal(order=4))
            self.assertTrue(sinew.spin_until_future_complete(self.node, future, timeout_sec=PATIENCE))
            future = future.result().get_result_async()
            self.assertTrue(sinew.spin_until_future_complete(self.node, future, timeout_sec=PATIENCE))
            results.append(future.result())
            done.set_result(None)

        timer = self.node.create_timer(0.001, tick)
        self.finished(done)
        self.assertEqual([list(result.result.sequence) for result in results], [[0, 1, 1, 2], [0, 1, 1, 2, 3]])

    def test_asyncio(self):
        async def execute(goal):
            sequence = [0]
            while not goal.is_cancel_requested:
                goal.publish_feedback(Fibonacci.Feedback(sequence=sequence))
                await asyncio.sleep(0.001)
                sequence.append(len(sequence))
            goal.canceled()
            return Fibonacci.Result(sequence=[7])

        async def main():
            seen = asyncio.Event()
            async with sinew.aio.spinning(executor=self.executor):
                goal = await self.client.send_goal_async(Fibonacci.Goal(), lambda message: seen.set())
                await seen.wait()
                self.assertEqual(len((await goal.cancel_goal_async()).goals_canceling), 1)
                return await goal.get_result_async()

        self.serve(execute, cancel_callback=lambda goal: CancelResponse.ACCEPT)
        result = asyncio.run(asyncio.wait_for(main(), PATIENCE))
        self.assertEqual((result.status, list(result.result.sequence)), (GoalStatus.STATUS_CANCELED, [7]))

    def test_decisions_beside_a_goal(self):
        """With one thread, a goal that a function executes can be cancelled if the asking thread decides."""
        begun = threading.Event()

        def execute(goal):
            begun.set()
            cancelled = threading.Event()
            goal.on_cancel_requested(cancelled.set)
            self.assertTrue(cancelled.wait(PATIENCE))
            goal.canceled()
            return Fibonacci.Result()

        self.serve(execute, cancel_callback=lambda goal: CancelResponse.ACCEPT, decide_in_group=False)
        future = self.client.send_goal_async(Fibonacci.Goal())

        def ask():
            begun.wait(PATIENCE)
            self.client.cancel_all_goals_async()

        asking = threading.Thread(target=ask)
        asking.start()
        result = self.finished(self.finished(future).get_result_async())
        asking.join()
        self.assertEqual(result.status, GoalStatus.STATUS_CANCELED)

    def test_a_server_that_is_destroyed(self):
        kept = []
        server = self.serve(handle_accepted_callback=kept.append)
        goal = self.send()
        server.destroy()
        self.assertTrue(kept[0].is_cancel_requested)
        future = goal.get_result_async()
        self.executor.spin_until_future_complete(future, PATIENCE)
        self.assertIsInstance(future.exception(), sinew.ServiceError)
        self.client.destroy()
        with self.assertRaisesRegex(sinew.SinewError, "destroyed"):
            self.client.send_goal_async(Fibonacci.Goal())


SERVER = """
    from sinew.action import ActionServer, CancelResponse
    from sinew.interfaces.example_interfaces.action import Fibonacci
    sinew.init([])
    node = sinew.Node("server")

    async def execute(goal):
        woken = sinew.Future()
        goal.on_cancel_requested(lambda: woken.set_result(None))
        goal.publish_feedback(Fibonacci.Feedback(sequence=[goal.request.order]))
        if goal.request.order > 5:
            await woken
            goal.canceled()
        else:
            goal.succeed()
        return Fibonacci.Result(sequence=[goal.request.order])

    server = ActionServer(node, Fibonacci, "fibonacci", execute, cancel_callback=lambda _: CancelResponse.ACCEPT)
    support.say("ready")
    try:
        sinew.spin(node)
    except sinew.ExternalShutdownException:
        pass
    """


class Processes(SinewTest):
    def server(self):
        server = program(SERVER)
        self.addCleanup(finish, server)
        self.addCleanup(server.terminate)
        self.assertEqual(server.stdout.readline(), "ready\n")
        return server

    def test_two_processes(self):
        server = self.server()
        client = ActionClient(self.node, Fibonacci, "fibonacci")
        self.assertTrue(client.wait_for_server(PATIENCE))
        self.assertEqual(list(client.send_goal(Fibonacci.Goal(order=5)).result.sequence), [5])
        seen, results = [], []
        sent = client.send_goal_async(Fibonacci.Goal(order=9), seen.append)
        self.executor.spin_until_future_complete(sent, PATIENCE)
        self.spin_until(lambda: seen)
        goal = sent.result()
        self.assertEqual(goal.cancel_goal(PATIENCE).return_code, 0)
        goal.get_result_async().add_done_callback(lambda future: results.append(future.result()))
        self.spin_until(lambda: results)
        self.assertEqual((results[0].status, list(results[0].result.sequence)), (GoalStatus.STATUS_CANCELED, [9]))
        sent = client.send_goal_async(Fibonacci.Goal(order=9))
        self.executor.spin_until_future_complete(sent, PATIENCE)
        server.kill()
        result = sent.result().get_result_async()
        self.executor.spin_until_future_complete(result, PATIENCE)
        self.assertIsInstance(result.exception(), sinew.ServiceError)

    def test_a_coroutine_that_the_program_ends(self):
        child = program("""
    from sinew.action import ActionClient, ActionServer
    from sinew.interfaces.example_interfaces.action import Fibonacci
    sinew.init([])
    node = sinew.Node("server")
    begun = sinew.Future()

    async def execute(goal):
        begun.set_result(None)
        await sinew.Future()

    server = ActionServer(node, Fibonacci, "fibonacci", execute)
    ActionClient(node, Fibonacci, "fibonacci").send_goal_async(Fibonacci.Goal())
    sinew.spin_until_future_complete(node, begun)
    """)
        self.assertEqual(finish(child), (0, "", ""))

    def test_the_command_line(self):
        command = [built("sinew"), "action", "send_goal", "fibonacci", "{order: 4}"]
        self.server()
        child = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(child.returncode, 0, child.stderr)
        self.assertIn("SUCCEEDED", child.stdout)
        self.assertIn("- 4", child.stdout)

    def test_a_server_of_rust(self):
        command = [built("robot"), "brain", "--component", "robot::Planner"]
        sinew.interfaces.add_path(REPOSITORY / "examples/robot/interfaces")
        from sinew.interfaces.robot_interfaces.action import Navigate

        qos = sinew.QoSProfile(depth=1, durability=sinew.DurabilityPolicy.TRANSIENT_LOCAL)
        frames = self.node.create_publisher(TFMessage, "/tf_static", qos)
        place = TransformStamped(child_frame_id="base_link")
        place.header.frame_id = "map"
        place.transform.translation.x, place.transform.translation.y = 1.0, 1.0
        frames.publish(TFMessage(transforms=[place]))
        robot = subprocess.Popen(command)
        self.addCleanup(robot.wait)
        self.addCleanup(robot.terminate)
        client = ActionClient(self.node, Navigate, "navigate")
        self.assertTrue(client.wait_for_server(PATIENCE))
        seen = []
        sent = client.send_goal_async(Navigate.Goal(x=4.125, y=1.125), seen.append)
        self.executor.spin_until_future_complete(sent, PATIENCE)
        self.spin_until(lambda: seen)
        self.assertGreater(seen[0].feedback.distance, 3)
        self.executor.spin_until_future_complete(sent.result().cancel_goal_async(), PATIENCE)
        result = sent.result().get_result_async()
        self.executor.spin_until_future_complete(result, PATIENCE)
        self.assertEqual(result.result().status, GoalStatus.STATUS_CANCELED)
        self.assertEqual(result.result().result.message, "it was cancelled")


if __name__ == "__main__":
    unittest.main()
