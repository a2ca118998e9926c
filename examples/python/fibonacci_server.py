"""Executes the action `fibonacci`, which can be cancelled, until Ctrl-C: fibonacci_server.py [SECONDS A STEP]"""

import sys

import sinew
from sinew.action import ActionServer, CancelResponse, GoalResponse, ServerGoalHandle
from sinew.interfaces.example_interfaces.action import Fibonacci


class FibonacciServer(sinew.Node):
    def __init__(self, period: float) -> None:
        super().__init__("fibonacci_server")
        self.period = period
        self.server = ActionServer(
            self,
            Fibonacci,
            "fibonacci",
            self.execute,
            goal_callback=self.decide,
            cancel_callback=self.cancel,
        )

    def decide(self, goal: Fibonacci.Goal) -> GoalResponse:
        self.get_logger().info(f"Received a goal of order {goal.order}")
        return GoalResponse.ACCEPT if goal.order < 40 else GoalResponse.REJECT

    def cancel(self, goal: ServerGoalHandle) -> CancelResponse:
        self.get_logger().info("Received a request to cancel")
        return CancelResponse.ACCEPT

    async def execute(self, goal: ServerGoalHandle) -> Fibonacci.Result:
        """Runs as a coroutine: while it waits for the timer, other callbacks run."""
        sequence = [0, 1]
        for _ in range(1, goal.request.order):
            await self.tick()
            if goal.is_cancel_requested:
                self.get_logger().info("The goal is canceled")
                goal.canceled()
                return Fibonacci.Result(sequence=sequence)
            sequence.append(sequence[-1] + sequence[-2])
            goal.publish_feedback(Fibonacci.Feedback(sequence=sequence))
        goal.succeed()
        return Fibonacci.Result(sequence=sequence)

    async def tick(self) -> None:
        done = sinew.Future()
        timer = self.create_timer(self.period, lambda: done.set_result(None))
        await done
        self.destroy_timer(timer)


def main() -> None:
    with sinew.init(), FibonacciServer(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0) as node:
        try:
            sinew.spin(node)
        except (KeyboardInterrupt, sinew.ExternalShutdownException):
            pass


if __name__ == "__main__":
    main()
