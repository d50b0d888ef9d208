"""The other process: `python -m klokka.tck.processes.actor SKEW`, with its orders pickled on standard input.

Its own clocks are off by so many seconds, before anything of the store is imported.
"""

import base64
import sys

from klokka.tck.processes import skew

if __name__ == "__main__":
    skew.set_clocks(float(sys.argv[1]))

    import asyncio
    import pickle

    from klokka.tck.processes.roles import perform

    asyncio.run(perform(pickle.loads(base64.b64decode(sys.stdin.readline()))))  # noqa: S301 - our own parent wrote it
