"""The start of a program: WHAT. Times `import sinew`, or the time until a first message has been received.

Nothing but `time` is imported before, as other modules would spare Sinew their import.
"""

from time import monotonic_ns as now_ns


def imported():
    import sinew  # noqa: F401


def received():
    import sinew
    from sinew.interfaces.std_msgs.msg import String

    texts = []
    with sinew.init(), sinew.Node("first") as node:
        node.create_subscription(String, "texts", texts.append, 10)
        node.create_publisher(String, "texts", 10).publish(String(data="first"))
        while not texts:
            sinew.spin_once(node)


def main():
    began = now_ns()
    import sys

    {"import": imported, "message": received}[sys.argv[1]]()
    print('{"samples": {"values": [%d], "recorded": 1}, "lost": 0}' % (now_ns() - began))


main()
