"""A worker that exists to be killed: `python -m tests.support.process_worker FIFO FIFO`."""

import asyncio
import sys

from klokka.runtime.processes import ProcessPool
from tests.support.process_handlers import hold_the_interpreter, sleep_without_the_kernels_help
from tests.support.processes import claimed_job, process_handler


async def main(first: str, second: str) -> None:
    pool = ProcessPool(2)
    await asyncio.gather(
        *(
            pool.run(handler, claimed_job(handler, fifo))
            for handler, fifo in (
                (process_handler(sleep_without_the_kernels_help), first),
                (process_handler(hold_the_interpreter), second),
            )
        )
    )


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
