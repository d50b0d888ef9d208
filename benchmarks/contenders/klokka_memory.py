"""Klokka: what a worker holds after many jobs more than after half of them, by Python's own count and by the system's."""

import asyncio
import gc
import tracemalloc
from pathlib import Path

from benchmarks.contenders.running import Options, tell
from benchmarks.contenders.work import fill, nothing_to_do

STEPS = 10


def resident() -> float:
    """MiB of this process in memory."""
    kib = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(kib.split()[1]) / 1024


async def main(options: Options) -> None:
    ran = 0
    step = max(1, options.jobs // STEPS)
    rested = asyncio.Event()

    def note(_: int) -> None:
        nonlocal ran
        ran += 1
        if ran % step == 0:
            rested.set()

    app, new = nothing_to_do(options.url, each=note)
    traced: list[float] = []
    held: list[float] = []
    async with app.worker():
        tracemalloc.start()
        for _ in range(STEPS):
            rested.clear()
            await fill(app, new, step)
            await rested.wait()
            gc.collect()
            traced.append(tracemalloc.get_traced_memory()[0] / 1024)
            held.append(resident())
    half = STEPS // 2 - 1
    tell({"traced KiB more": traced[-1] - traced[half], "resident MiB more": held[-1] - held[half]})


asyncio.run(main(Options.given()))
