"""Statements made out of statements."""

import pytest

from klokka.stores.postgres.composing import gated, placed, replaced

ENQUEUE = """with tick as materialized (
select clock_timestamp() as now
)
insert into "a$1" select $1 from tick"""


def test_a_parameter_is_found_and_a_quoted_name_left_alone() -> None:
    assert placed("""select $1 from "a$1" where b = '$1'""", "%s") == """select %s from "a$1" where b = '$1'"""


def test_what_is_replaced_is_not_what_is_quoted() -> None:
    assert replaced("""select 'true' from "true" where true""", "true", "a = b") == (
        """select 'true' from "true" where a = b"""
    )


def test_the_second_statement_takes_its_moment_from_the_first_and_its_parameter_behind() -> None:
    statement = gated('update "a$9" set b = $2 where c = $1 returning c', ENQUEUE)

    assert (
        statement
        == """with gate as (
update "a$9" set b = $2 where c = $1 returning c
),
tick as materialized (
select clock_timestamp() as now
from gate
)
insert into "a$1" select $3 from tick"""
    )


def test_a_statement_that_reads_no_clock_first_cannot_be_gated() -> None:
    with pytest.raises(AssertionError, match="tick"):
        gated("delete from a returning b", "select 1")
