"""The URL is libpq's, with options of ours beside its own."""

import sys
from datetime import timedelta

import pytest
from psycopg.conninfo import conninfo_to_dict

from klokka.errors import MissingExtra, UnknownStore
from klokka.stores.open import open_store
from klokka.stores.postgres.store import PostgresStore


def given(url: str) -> dict[str, str]:
    """What libpq understands of it."""
    store = open_store(url)
    assert isinstance(store, PostgresStore)
    return {name: str(value) for name, value in conninfo_to_dict(store._setting.conninfo).items()}


def test_a_url_without_a_server_keeps_its_form() -> None:
    assert given("postgresql:///jobs?host=/run/postgresql")["host"] == "/run/postgresql"
    assert given("postgresql:///jobs")["dbname"] == "jobs"


def test_a_plus_is_a_plus_and_a_percent_sign_decodes() -> None:
    options = given("postgresql://u@h/jobs?password=a+b%20c%2B&schema=s")

    assert options["password"] == "a+b c+"  # noqa: S105
    assert "schema" not in options


def test_many_hosts_are_libpqs_own() -> None:
    options = given("postgresql://u@one:1,two:2/jobs?target_session_attrs=read-write&connections=2")

    assert (options["host"], options["port"]) == ("one,two", "1,2")
    assert options["target_session_attrs"] == "read-write"


def test_the_url_may_say_what_we_would_set() -> None:
    assert given("postgresql://h/jobs")["application_name"] == "klokka"
    assert given("postgresql://h/jobs?application_name=shop")["application_name"] == "shop"


@pytest.mark.parametrize("options", ["bound=soon", "bound=0s", "migrate=maybe", "connections=0", "schema=a&schema=b"])
def test_an_option_that_cannot_be_read_is_named(options: str) -> None:
    with pytest.raises(ValueError, match=options.partition("=")[0]):
        open_store(f"postgresql://h/jobs?{options}")


@pytest.mark.parametrize(("text", "seconds"), [("250ms", 0.25), ("1.5s", 1.5), ("1m", 60)])
def test_a_bound_is_a_length_of_time_as_elsewhere(text: str, seconds: float) -> None:
    assert open_store(f"postgresql://h/jobs?bound={text}").traits.bound == timedelta(seconds=seconds)


def test_an_option_that_nobody_knows_is_told_ours_and_no_password() -> None:
    with pytest.raises(UnknownStore, match=r'"conections".*schema, listen, connections') as caught:
        open_store("postgresql://u:hidden@h/jobs?conections=3&sslpassword=hidden")

    assert "hidden" not in str(caught.value)


def test_a_driver_in_the_scheme_is_told_to_leave_it_out() -> None:
    with pytest.raises(UnknownStore, match=r"Write postgresql: alone") as caught:
        open_store("postgresql+psycopg://u:hidden@h/jobs")

    assert "hidden" not in str(caught.value)


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    for name in [name for name in sys.modules if name.startswith("klokka.stores.postgres")]:
        monkeypatch.delitem(sys.modules, name)

    with pytest.raises(MissingExtra, match=r"klokka\[postgres\]") as caught:
        open_store("postgresql://u:hidden@h/jobs")

    assert "hidden" not in str(caught.value)


def test_a_listening_connection_that_libpq_cannot_read_is_named() -> None:
    with pytest.raises(UnknownStore, match="listen"):
        open_store("postgresql://h/jobs?listen=postgresql%3A//h/jobs%3Fcolour%3Dred")
