"""Several processes, signals, deaths, forks, the interpreter's end."""

import os
import signal
import unittest

import sinew
from sinew.interfaces.example_interfaces.srv import AddTwoInts
from sinew.interfaces.std_msgs.msg import Int64, UInt8MultiArray
from support import PATIENCE, SinewTest, finish, program

TALKER = """
    from sinew.interfaces.std_msgs.msg import Int64, UInt8MultiArray
    from sinew.interfaces.example_interfaces.srv import AddTwoInts
    sinew.init([])
    node = sinew.Node("child")
    """


def child(source):
    return program(TALKER + source)


class Processes(SinewTest):
    def test_messages_and_views_between_processes(self):
        heard = []
        self.node.create_subscription(UInt8MultiArray, "images", heard.append, 10)
        other = child("""
    publisher = node.create_publisher(UInt8MultiArray, "images", 10)
    publisher.wait_for_subscriptions(1, support.PATIENCE)
    with publisher.draft(data=1_000_000) as draft:
        memoryview(draft.data)[:4] = b"abcd"
        memoryview(draft.data)[4:] = bytes(999_996)
    print(publisher.wait_for_all_acked(support.PATIENCE))
    """)
        self.spin_until(lambda: heard)
        view = memoryview(heard[0].data)
        self.assertEqual(finish(other)[:2], (0, "True\n"))
        self.context.shutdown()
        self.node.destroy_node()
        heard.clear()
        self.assertTrue(view.readonly)
        self.assertEqual((len(view), bytes(view[:5])), (1_000_000, b"abcd\0"))

    def test_a_server_that_is_killed(self):
        other = child("""
    node.create_service(AddTwoInts, "add", lambda request, responder: kept.append(responder), deferred=True)
    kept = []
    node.create_timer(0.001, lambda: kept and print("asked", flush=True))
    sinew.spin(node)
    """)
        client = self.node.create_client(AddTwoInts, "add")
        self.assertTrue(client.wait_for_service(PATIENCE))
        future = client.call_async(AddTwoInts.Request())
        self.assertEqual(other.stdout.readline(), "asked\n")
        other.kill()
        other.communicate()
        self.assertTrue(self.executor.spin_until_future_complete(future, PATIENCE))
        self.assertIsInstance(future.exception(), sinew.ServiceError)
        with self.assertRaises((sinew.ServiceError, TimeoutError)):
            client.call(AddTwoInts.Request(), 0.01)

    def test_a_publisher_that_is_killed(self):
        heard = []
        subscription = self.node.create_subscription(Int64, "numbers", heard.append, 10)
        other = child("""
    publisher = node.create_publisher(Int64, "numbers", 10)
    node.create_timer(0.001, lambda: publisher.publish(Int64(data=7)))
    sinew.spin(node)
    """)
        self.spin_until(lambda: heard)
        other.kill()
        other.communicate()
        self.assertEqual(heard[0].data, 7)
        self.spin_until_or_wait(lambda: subscription.get_publisher_count() == 0)
        self.node.create_publisher(Int64, "numbers", 10).publish(Int64(data=8))
        self.spin_until(lambda: heard[-1].data == 8)

    def spin_until_or_wait(self, condition):
        self.node.create_timer(0.001, lambda: None)
        self.spin_until(condition)


class Signals(unittest.TestCase):
    def end(self, source, number):
        other = child(source)
        self.assertEqual(other.stdout.readline(), "ready\n")
        other.send_signal(number)
        return finish(other)

    SPIN = """
    {executor}
    node.create_guard_condition(lambda: print("ready", flush=True)).trigger()
    try:
        {wait}
    except KeyboardInterrupt:
        print("interrupted", sinew.ok())
    except sinew.ExternalShutdownException:
        print("shut down", sinew.ok())
    """

    def spin(self, executor="", wait="sinew.spin(node)"):
        return self.SPIN.format(executor=executor, wait=wait)

    THREADS = "executor = sinew.MultiThreadedExecutor(2); executor.add_node(node)"

    def test_control_c(self):
        expected = (0, "interrupted True\n")
        self.assertEqual(self.end(self.spin(), signal.SIGINT)[:2], expected)
        source = self.spin(self.THREADS, "executor.spin()")
        self.assertEqual(self.end(source, signal.SIGINT)[:2], expected)
        source = self.spin(wait="sinew.spin_until_future_complete(node, sinew.Future())")
        self.assertEqual(self.end(source, signal.SIGINT)[:2], expected)

    def test_control_c_in_other_waits(self):
        for wait in (
            'node.create_client(AddTwoInts, "none").wait_for_service()',
            'node.create_client(AddTwoInts, "none").call(AddTwoInts.Request())',
            "node.create_rate(0.0001).sleep()",
            'node.wait_for_node("nobody")',
        ):
            source = f"""
    try:
        print("ready", flush=True)
        {wait}
    except KeyboardInterrupt:
        print("interrupted")
    """
            self.assertEqual(self.end(source, signal.SIGINT)[:2], (0, "interrupted\n"))

    def test_control_c_in_a_call_of_a_callback(self):
        source = """
    client = node.create_client(AddTwoInts, "none")

    def ask():
        print("ready", flush=True)
        client.call(AddTwoInts.Request())

    node.create_timer(0.001, ask)
    try:
        sinew.spin(node)
    except KeyboardInterrupt:
        print("interrupted", sinew.ok())
    """
        self.assertEqual(self.end(source, signal.SIGINT)[:2], (0, "interrupted True\n"))

    def test_control_c_again_while_a_callback_waits(self):
        """The first ends the spin, which waits for the callback; a later one ends that wait."""
        source = """
    import signal, threading, time
    client, ended, signals = node.create_client(AddTwoInts, "none"), threading.Event(), []

    def interrupt():
        while not ended.wait(0.1):
            os.kill(os.getpid(), signal.SIGINT)

    def interrupted(*_):
        signals.append(1)
        if not ended.is_set():
            raise KeyboardInterrupt

    def ask():
        threading.Thread(target=interrupt).start()
        client.call(AddTwoInts.Request())

    signal.signal(signal.SIGINT, interrupted)
    executor = sinew.MultiThreadedExecutor(2)
    executor.add_node(node)
    node.create_timer(0.001, ask)
    try:
        try:
            executor.spin()
        finally:
            ended.set()
    except KeyboardInterrupt:
        print("interrupted", sinew.ok(), len(signals) > 1)
    """
        self.assertEqual(finish(child(source))[:2], (0, "interrupted True True\n"))

    def test_control_c_in_sleeps_in_simulated_time(self):
        for sleep in ("node.create_rate(1).sleep()", "clock.sleep_for(sinew.Duration(seconds=1))"):
            source = f"""
    clock = node.get_clock()
    sinew.default_context()._handle.set_ros_time(10**9)
    try:
        print("ready", flush=True)
        {sleep}
    except KeyboardInterrupt:
        print("interrupted", sinew.ok())
    """
            self.assertEqual(self.end(source, signal.SIGINT)[:2], (0, "interrupted True\n"))

    def test_termination(self):
        expected = (0, "shut down False\n")
        self.assertEqual(self.end(self.spin(), signal.SIGTERM)[:2], expected)
        source = self.spin(self.THREADS, "executor.spin()")
        self.assertEqual(self.end(source, signal.SIGTERM)[:2], expected)

    def test_control_c_in_a_callback(self):
        source = """
    def forever():
        print("ready", flush=True)
        while True:
            pass
    node.create_timer(0.001, forever)
    try:
        sinew.spin(node)
    except KeyboardInterrupt:
        print("interrupted")
    """
        self.assertEqual(self.end(source, signal.SIGINT)[:2], (0, "interrupted\n"))


class Ends(unittest.TestCase):
    def test_the_interpreter_ends_while_messages_arrive(self):
        for spin in ("sinew.spin(node)", "executor.spin()", "client.wait_for_service()"):
            source = f"""
    import threading
    heard = threading.Event()
    node.create_subscription(Int64, "numbers", lambda message: heard.set(), 10)
    publisher = node.create_publisher(Int64, "numbers", 10)
    client = node.create_client(AddTwoInts, "none")
    executor = sinew.MultiThreadedExecutor(2)
    other = sinew.Node("other")
    other.create_timer(0.0005, lambda: publisher.publish(Int64()))
    executor.add_node(other)
    if "executor" not in {spin!r}:
        threading.Thread(target=executor.spin, daemon=True).start()
    else:
        executor.add_node(node)
    threading.Thread(target=lambda: {spin}, daemon=True).start()
    if "client" not in {spin!r}:
        heard.wait(support.PATIENCE)
    print("end")
    """
            with self.subTest(spin):
                code, output, errors = finish(child(source))
                self.assertEqual((code, output), (0, "end\n"), errors)

    def test_an_exit_in_a_callback(self):
        source = """
    node.create_timer(0.001, lambda: sys.exit(3))
    sinew.spin(node)
    """
        self.assertEqual(finish(child(source))[0], 3)

    def test_without_shutdown(self):
        code, output, errors = finish(child('node.create_timer(1, print)\n    print("end")'))
        self.assertEqual((code, output), (0, "end\n"), errors)


class Forks(unittest.TestCase):
    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork")
    def test_a_forked_child_is_refused(self):
        source = """
    publisher = node.create_publisher(Int64, "numbers", 10)
    subscription = node.create_subscription(Int64, "numbers", None, 10)
    pid = os.fork()
    if pid == 0:
        status = 9
        try:
            sinew.Node("in_child")
        except sinew.SinewError as error:
            status = 7
        finally:
            os._exit(status)
    _, status = os.waitpid(pid, 0)
    publisher.publish(Int64(data=5))
    print(os.waitstatus_to_exitcode(status), subscription.take()[0].data)
    """
        code, output, errors = finish(child(source))
        self.assertEqual((code, output), (0, "7 5\n"), errors)

    def test_multiprocessing(self):
        source = """
    import multiprocessing
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.apply(sorted, ([2, 1],)))
    """
        code, output, errors = finish(child(source))
        self.assertEqual((code, output), (0, "[1, 2]\n"), errors)

    def test_subinterpreters_are_refused(self):
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            self.skipTest("this Python has no module for subinterpreters")
        source = f"""
    import {interpreters.__name__} as interpreters
    other = interpreters.create()
    try:
        interpreters.run_string(other, "import sinew")
    except Exception as error:
        print("ImportError" in str(error) or "subinterpreter" in str(error))
    """
        code, output, errors = finish(child(source))
        self.assertEqual((code, output), (0, "True\n"), errors)


if __name__ == "__main__":
    unittest.main()
