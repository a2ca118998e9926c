"""Actions: goals that take time, report their progress, can be cancelled, and have a result.

    from sinew.action import ActionClient, ActionServer
    from sinew.interfaces.example_interfaces.action import Fibonacci

    def execute(goal):
        goal.succeed()
        return Fibonacci.Result(sequence=[0, 1])

    server = ActionServer(node, Fibonacci, "fibonacci", execute)
    client = ActionClient(node, Fibonacci, "fibonacci")
    future = client.send_goal_async(Fibonacci.Goal(order=5))

The names are those of `rclpy.action`.
"""

from .client import ActionClient as ActionClient, ClientGoalHandle as ClientGoalHandle
from .graph import (
    get_action_client_names_and_types_by_node as get_action_client_names_and_types_by_node,
    get_action_names_and_types as get_action_names_and_types,
    get_action_server_names_and_types_by_node as get_action_server_names_and_types_by_node,
)
from .server import (
    ActionServer as ActionServer,
    CancelResponse as CancelResponse,
    GoalResponse as GoalResponse,
    ServerGoalHandle as ServerGoalHandle,
    default_cancel_callback as default_cancel_callback,
    default_goal_callback as default_goal_callback,
    default_handle_accepted_callback as default_handle_accepted_callback,
)


TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..interfaces.action_msgs.msg import GoalStatus as GoalStatus
else:

    def __getattr__(name):
        if name == "GoalStatus":
            from ..interfaces.action_msgs.msg import GoalStatus

            return GoalStatus
        raise AttributeError(f"module 'sinew.action' has no attribute {name!r}")
