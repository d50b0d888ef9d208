"""`klokka enqueue`: one job from the command line."""

import sys
from datetime import datetime, timedelta
from typing import Final

import click
import msgspec

from klokka.app.klokka import Klokka
from klokka.cli.apps import load_app
from klokka.cli.documents import print_json
from klokka.cli.exits import Refused
from klokka.cli.output import json_option
from klokka.cli.parameters import DURATION, INSTANT, KEY, QUEUE
from klokka.cli.source import app_alone
from klokka.core.lost_fields import check_said_once
from klokka.core.names import check_kind, check_text, shown
from klokka.core.records import NewJob
from klokka.spi.life import Survives

_STDIN: Final = "-"


@click.command(short_help="Store one job.")
@click.argument("words", nargs=-1, metavar="[MODULE:OBJECT] KIND [PAYLOAD]")
@click.option("--queue", type=QUEUE, help="Another queue than the kind's own.")
@click.option("--delay", type=DURATION, help="Not before so long from now, such as 10m.")
@click.option("--run-at", type=INSTANT, help="Not before this instant, such as 2024-03-10T07:00:00Z.")
@click.option("--key", type=KEY, help="Unique key: while a live job holds it, that job is the answer.")
@click.option("--max-attempts", type=click.IntRange(1, 10**9 - 1), help="Fewer attempts than the kind's policy gives.")
@json_option
def enqueue(
    words: tuple[str, ...],
    queue: str | None,
    delay: timedelta | None,
    run_at: datetime | None,
    key: str | None,
    max_attempts: int | None,
    as_json: bool,
) -> None:
    """Store one job of KIND with PAYLOAD, which is JSON, or - to read it from stdin; {} where it is left out.

    The payload is checked by the kind's handler where the app has one, and to be JSON where it has none. The app is the
    one named, else that of KLOKKA_APP or pyproject.toml.
    """
    app, kind, payload = _apart(words)
    loaded = load_app(app_alone(app))
    if loaded.store.traits.survives is Survives.NOTHING:
        raise Refused(f"the store of the app, {loaded.store.traits.name}, ends with this command, and the job with it.")
    text = _read_stdin() if payload == _STDIN else payload
    request = _request(loaded, kind, check_text("payload", text).strip()).options(
        delay=delay, run_at=run_at, queue=queue, unique_key=key, max_attempts=max_attempts
    )
    try:
        result = loaded.enqueue_sync(request)
    finally:
        loaded.close_sync()
    if as_json:
        print_json(result)
    elif result.created:
        click.echo(f"Enqueued job {result.id} in queue {request.queue}.")
    else:
        click.echo(f"Job {result.id} holds this key already; nothing was enqueued.")


def _apart(words: tuple[str, ...]) -> tuple[str | None, str, str]:
    """App, kind and payload: what has a colon and stands first is an app, since no kind has one."""
    app, rest = (words[0], words[1:]) if words and ":" in words[0] else (None, words)
    if len(rest) == 0:
        raise click.UsageError("Missing argument 'KIND'.")
    if len(rest) > 2:
        raise click.UsageError(f"what is {shown(rest[2])}? Give KIND and PAYLOAD, the payload in quotes.")
    return app, check_kind(rest[0]), rest[1] if len(rest) == 2 else "{}"


def _request(app: Klokka, kind: str, payload: str) -> NewJob:
    if kind in app.handlers:
        return app.request(kind, payload)
    try:
        msgspec.json.decode(payload)
        check_said_once(payload)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Refused(f"the payload is no JSON: {error}.") from error
    known = f"it has {', '.join(sorted(app.handlers))}" if app.handlers else "it has none"
    click.echo(f"Note: the app has no handler of {kind} ({known}); the payload was checked to be JSON only.", err=True)
    return NewJob(kind=kind, payload=payload)


def _read_stdin() -> str:
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise Refused(f"the payload on stdin is no UTF-8: byte {error.start + 1} cannot be read.") from error
