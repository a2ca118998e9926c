"""Sends a goal to the action `fibonacci`, and cancels it after some feedback: fibonacci_client.py [ORDER [FEEDBACK]]"""

import sys

import sinew
from sinew.action import ActionClient, GoalStatus
from sinew.interfaces.example_interfaces.action import Fibonacci


class FibonacciClient(sinew.Node):
    def __init__(self, cancel_after: int) -> None:
        super().__init__("fibonacci_client")
        self.client = ActionClient(self, Fibonacci, "fibonacci")
        self.cancel_after = cancel_after
        self.pieces = 0

    async def run(self, order: int) -> None:
        self.goal = await self.client.send_goal_async(Fibonacci.Goal(order=order), self.feedback)
        if not self.goal.accepted:
            print("The goal was rejected")
            return
        result = await self.goal.get_result_async()
        names = {GoalStatus.STATUS_SUCCEEDED: "succeeded", GoalStatus.STATUS_CANCELED: "canceled"}
        print(f"{names.get(result.status, 'aborted')}: {result.result.sequence.tolist()}")

    async def feedback(self, message: Fibonacci.Impl.FeedbackMessage) -> None:
        print(f"so far: {message.feedback.sequence.tolist()}")
        self.pieces += 1
        if self.pieces == self.cancel_after:
            answer = await self.goal.cancel_goal_async()
            print(f"{len(answer.goals_canceling)} goal is being canceled")


def main() -> None:
    numbers = [int(number) for number in sys.argv[1:]]
    order, cancel_after = (*numbers, *[10, 0][len(numbers) :])
    with sinew.init(), FibonacciClient(cancel_after) as node:
        node.client.wait_for_server()
        with sinew.SingleThreadedExecutor() as executor:
            executor.add_node(node)
            executor.spin_until_future_complete(executor.create_task(node.run(order)))


if __name__ == "__main__":
    main()
