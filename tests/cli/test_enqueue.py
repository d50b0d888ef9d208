import json
from datetime import UTC, datetime, timedelta

import pytest

from klokka.core.headers import MAX_ATTEMPTS
from klokka.core.states import JobStatus
from tests.support.shell import Shell

APP = """
    from dataclasses import dataclass
    from klokka.app.klokka import Klokka
    from klokka.core.jobtypes import JobType

    app = Klokka("sqlite:///jobs.db")
    print("noise of the user's module")

    @app.job("email.welcome", queue="email")
    async def welcome(user_id: int, locale: str = "en") -> None: ...

    @dataclass
    class Receipt:
        order: int

    app.handle(JobType("receipt", Receipt, queue="paper", version=3), lambda receipt: None)
"""


@pytest.fixture
def shop(shell: Shell) -> Shell:
    shell.write("shop.py", APP)
    return shell


def test_a_job_goes_to_its_kinds_own_queue(shop: Shell) -> None:
    result = shop.run("enqueue", "shop:app", "email.welcome", '{"user_id": 7}')

    assert (result.exit_code, result.stdout) == (0, "Enqueued job 1 in queue email.\n")
    assert shop.get("1").payload == '{"user_id": 7}'
    assert shop.get("1").summary.queue == "email"


def test_a_kind_as_a_value_keeps_its_version(shop: Shell) -> None:
    shop.run("enqueue", "shop:app", "receipt", '{"order": 1}')

    assert shop.get("1").payload_version == 3
    assert shop.get("1").summary.queue == "paper"


def test_for_programs_stdout_has_the_document_alone(shop: Shell) -> None:
    result = shop.run("enqueue", "shop:app", "email.welcome", '{"user_id": 7}', "--json")

    assert json.loads(result.stdout) == {"id": "1", "created": True}
    assert "noise of the user's module" in result.stderr


def test_the_payload_may_come_from_stdin(shop: Shell) -> None:
    shop.run("enqueue", "shop:app", "email.welcome", "-", input='{"user_id": 7,\n"locale": "日本"}\n')

    assert shop.get("1").payload == '{"user_id": 7,\n"locale": "日本"}'


def test_options_reach_the_job(shop: Shell) -> None:
    options = ("--queue", "bulk", "--key", "welcome:7", "--max-attempts", "3", "--run-at", "2099-01-01T02:00:00+02:00")

    shop.run("enqueue", "shop:app", "email.welcome", '{"user_id": 7}', *options)

    job = shop.get("1")
    assert (job.summary.queue, job.unique_key) == ("bulk", "welcome:7")
    assert job.headers == {MAX_ATTEMPTS: "3"}
    assert job.summary.run_at == datetime(2099, 1, 1, tzinfo=UTC)


def test_a_delay_is_from_now(shop: Shell) -> None:
    shop.run("enqueue", "shop:app", "email.welcome", '{"user_id": 7}', "--delay", "1h30m")

    summary = shop.get("1").summary
    assert summary.status is JobStatus.SCHEDULED
    assert summary.run_at - summary.enqueued_at == timedelta(hours=1, minutes=30)


def test_a_key_that_is_held_gives_its_job(shop: Shell) -> None:
    arguments = ("enqueue", "shop:app", "email.welcome", '{"user_id": 7}', "--key", "k")
    shop.run(*arguments)

    result = shop.run(*arguments)

    assert (result.exit_code, result.stdout) == (0, "Job 1 holds this key already; nothing was enqueued.\n")
    assert shop.json(*arguments) == {"id": "1", "created": False}


def test_a_kind_without_handler_is_checked_to_be_json_and_said(shop: Shell) -> None:
    result = shop.run("enqueue", "shop:app", "elsewhere", "[1, 2]")

    assert result.exit_code == 0
    assert "the app has no handler of elsewhere (it has email.welcome, receipt)" in result.stderr
    assert shop.get("1").payload == "[1, 2]"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("email.welcome",), "missing required field `user_id`"),
        (("email.welcome", '{"user_id": "x"}'), "Expected `int`, got `str` - at `$.user_id`"),
        (("email.welcome", ""), "it is empty, and the least that is JSON is {}"),
        (("email.welcome", "{user_id: 7}"), "the payload is no welcome: JSON is malformed"),
        (
            ("email.welcome", '{"user_id": 7, "locael": "nb"}'),
            "which welcome does not know and would lose. Known there: ",
        ),
        (("receipt", '{"order": 7, "ordr": 8}'), "the payload has the field '$.ordr', which Receipt does not know"),
        (("email.welcome", '{"user_id": 1, "user_id": 2}'), "the payload gives 'user_id' twice in one object"),
        (("elsewhere", '[{"a": {"n": 1, "n": 1}}]'), "the payload gives 'n' twice in one object"),
        (("elsewhere", "{"), "the payload is no JSON"),
        (("elsewhere", "NaN"), "the payload is no JSON"),
        (("elsewhere", "[" * 100_000), "the payload is no JSON"),
        (("elsewhere", '"\udc80"'), "payload has a lone surrogate"),
        (("Email", "{}"), "for example 'email'"),
        (("email.welcome", "{}", "--delay", "soon"), "'soon' is no length of time. Write it like 10s"),
        (("email.welcome", "{}", "--run-at", "2024-03-10T07:00:00"), "has no time zone"),
        (("email.welcome", "{}", "--run-at", "noon"), "'noon' is no instant"),
        (("email.welcome", '{"user_id": 1}', "--delay", "1s", "--run-at", "2024-03-10T07:00:00Z"), "same thing twice"),
        (("email.welcome", "{}", "--max-attempts", "0"), "0 is not in the range"),
        (("email.welcome", "{}", "--key", ""), "key is empty"),
        (("email.welcome", "{}", "--queue", "A"), "for example 'a'"),
        (("elsewhere", f'"{"x" * 2**20}"'), "the limit is 1,048,576"),
        ((), "Missing argument 'KIND'"),
        (("email.welcome", '{"user_id":', "7}"), "what is '7}'? Give KIND and PAYLOAD"),
        (("email.welcome", "{}", "more"), "what is 'more'?"),
    ],
)
def test_bad_input_gets_one_clear_error_and_stores_nothing(
    shop: Shell, arguments: tuple[str, ...], message: str
) -> None:
    result = shop.run("enqueue", "shop:app", *arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert shop.json("jobs", "list") == []


def test_bytes_on_stdin_that_are_no_text_are_refused(shop: Shell) -> None:
    result = shop.run("enqueue", "shop:app", "elsewhere", "-", input=b'"\xff"')

    assert result.exit_code == 2
    assert "the payload on stdin is no UTF-8: byte 2 cannot be read." in result.stderr


@pytest.mark.parametrize("group", [("--app", "shop:app"), ()])
def test_the_app_may_be_named_before_the_command_or_in_the_environment(shop: Shell, group: tuple[str, ...]) -> None:
    result = shop.run(*group, "enqueue", "email.welcome", '{"user_id": 7}', KLOKKA_APP="shop:app")

    assert (result.exit_code, result.stdout) == (0, "Enqueued job 1 in queue email.\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--store", "sqlite:///other.db", "enqueue", "shop:app", "email.welcome"), "--store goes unheard here"),
        (("--store", "sqlite:///other.db", "worker", "shop:app"), "--store goes unheard here"),
        (("--app", "shop:app", "worker", "shop:app"), "the same thing twice"),
        (("enqueue", "email.welcome"), "no app is named. Name it as module:object"),
        (("worker",), "no app is named. Name it as module:object"),
    ],
)
def test_a_store_that_would_go_unheard_and_an_app_that_nobody_names_are_refused(
    shop: Shell, arguments: tuple[str, ...], message: str
) -> None:
    result = shop.run(*arguments, KLOKKA_STORE=None)

    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert shop.json("jobs", "list") == []


def test_a_store_that_ends_with_the_command_takes_no_job(shop: Shell) -> None:
    shop.write("brief_app.py", 'from klokka.app.klokka import Klokka\napp = Klokka("memory:")\n')

    result = shop.run("enqueue", "brief_app:app", "email.welcome")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "the store of the app, memory, ends with this command" in result.stderr
