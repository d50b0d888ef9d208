"""`klokka worker`: a process that runs an app's jobs until it is told to stop."""

import asyncio
import logging
from datetime import timedelta

import click

from klokka.app.klokka import Klokka
from klokka.cli.apps import load_app
from klokka.cli.logs import LEVELS, log_to_stderr
from klokka.cli.parameters import DURATION, QUEUE_AND_CAP
from klokka.cli.source import app_alone
from klokka.cli.worker_processes import run_processes
from klokka.core.durations import spell
from klokka.core.queues import Queue
from klokka.runtime.settings import WorkerSettings

logger = logging.getLogger("klokka.worker")


@click.command()
@click.argument("app", metavar="[MODULE:OBJECT]", required=False)
@click.option(
    "--queue",
    "queues",
    type=QUEUE_AND_CAP,
    multiple=True,
    help="A queue to serve, and how many of its jobs at once. Given several times, the order is the priority.",
)
@click.option("--concurrency", type=click.IntRange(min=1), help="Jobs at once, all queues together.")
@click.option("--grace", type=DURATION, help="How long running jobs may finish after a stop, such as 25s.")
@click.option("--processes", type=click.IntRange(min=1), default=1, help="Worker processes; one that dies is replaced.")
@click.option("--log-level", type=click.Choice(LEVELS), default="info", show_default=True)
def worker(
    app: str | None,
    queues: tuple[Queue, ...],
    concurrency: int | None,
    grace: timedelta | None,
    processes: int,
    log_level: str,
) -> None:
    """Run the jobs of an app until SIGTERM or SIGINT.

    The first signal lets running jobs finish for the grace and hands the rest back; a second one stops at once. The
    app is the one named, else that of KLOKKA_APP or pyproject.toml. What is not given is as the app says.
    """
    name = app_alone(app)
    loaded = load_app(name)
    settings = loaded.worker_settings(queues=queues or None, concurrency=concurrency, grace=grace)
    log_to_stderr(log_level)
    if processes > 1:
        arguments = [name, "--log-level", log_level, "--concurrency", str(settings.concurrency)]
        arguments += ["--grace", f"{settings.grace // timedelta(milliseconds=1)}ms"]
        arguments += [word for queue in settings.queues for word in ("--queue", _spelled(queue))]
        asyncio.run(run_processes(arguments, places=processes, grace=settings.grace))
        return
    _tell_start(name, loaded, settings)
    asyncio.run(loaded.run_worker(settings))


def _spelled(queue: Queue) -> str:
    return queue.name if queue.concurrency is None else f"{queue.name}={queue.concurrency}"


def _tell_start(name: str, app: Klokka, settings: WorkerSettings) -> None:
    store = app.store.traits
    logger.info(
        "%s on %s %s: %d slots, grace %s; queues %s; kinds %s",
        name,
        store.name,
        store.version,
        settings.concurrency,
        spell(settings.grace),
        ", ".join(
            queue.name if queue.concurrency is None else f"{queue.name} (at most {queue.concurrency})"
            for queue in settings.queues
        ),
        ", ".join(sorted(app.handlers)),
    )
