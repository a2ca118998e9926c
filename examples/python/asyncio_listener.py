"""Prints the lines of the talker in asyncio: asyncio_listener.py [COUNT]"""

import asyncio
import sys

import sinew
from sinew.interfaces.std_msgs.msg import String


async def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    with sinew.init(), sinew.Node("asyncio_listener") as node:
        # Without a callback, so messages are taken by `async for`, which needs no executor.
        subscription = node.create_subscription(String, "chatter")
        async for message in subscription:
            print(f"I heard: {message.data!r}", flush=True)
            count -= 1
            if count == 0:
                break


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
