"""Klokka: a worker drains after five times as many jobs have run there, with or without a snapshot that sees them all."""

import asyncio
from contextlib import AsyncExitStack

import psycopg

from benchmarks.contenders.draining import Drain
from benchmarks.contenders.running import Options, tell
from benchmarks.contenders.work import check_all_done, fill

BEFORE = 5
"""Times as many jobs as are measured."""


async def run(options: Options, *, beside_a_snapshot: bool) -> None:
    drain = Drain(options.url)
    before = BEFORE * options.jobs
    async with drain.app, AsyncExitStack() as held:
        if beside_a_snapshot:
            holder = await held.enter_async_context(await psycopg.AsyncConnection.connect(options.url))
            await holder.set_isolation_level(psycopg.IsolationLevel.REPEATABLE_READ)
            await holder.execute("select count(*) from klokka.jobs")
        await fill(drain.app, drain.new, before)
        await drain.run(before)
        await fill(drain.app, drain.new, options.jobs)
        rates = await drain.run(options.jobs)
    await check_all_done(drain.app, before + options.jobs)
    tell(rates)


def main(*, beside_a_snapshot: bool) -> None:
    asyncio.run(run(Options.given(), beside_a_snapshot=beside_a_snapshot))
