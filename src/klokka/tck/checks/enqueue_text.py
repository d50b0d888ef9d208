"""enqueue: any text, and its limits."""

from contextlib import suppress

from klokka.core.records import NewJob
from klokka.core.states import Enqueued
from klokka.errors import InvalidInput, InvalidName, LimitExceeded
from klokka.tck.bench import HOUR, Bench
from klokka.tck.check import check
from klokka.tck.violations import expect, expect_refusal

HOSTILE = (
    "'; drop table jobs; --",
    '"; delete from jobs where "1"="1',
    "%s %(id)s {} {0} $1 ? :id @x \\",
    "\\u0000 \\x00 is ordinary text",
    "line\nline\r\nline\rtab\tend",
    "  spaces around  ",
    "größer ≤ ½ 日本語 👩‍👩‍👧 مرحبا",
    "e\u0301 is not é",
    "\ufeff\u200b\u202e\uffff\U0010ffff",
    "\x01\x1f\x7f\x85",
    "NULL",
    '{ "b":1.0,"a" : [1e2, 1],\t"b": "\\\\n \\\\" }',
    '{"a":"\\u00e9\\/"}',
    '{"long":12345678901234567890,"double":0.1000000000000000055,"e":1E400,"n":[NaN,-0,Infinity],"ü":"é"}',
    '{"twice":1,"twice":2,"":null}',
)
"""Texts that stay data [enqueue.text]."""

LARGE = 16 * 1024 * 1024
"""A stated limit beyond this is believed, since trying it would cost too much."""


@check("enqueue.text", "enqueue.headers")
async def any_text_comes_back_character_for_character(bench: Bench) -> None:
    jobs = [
        bench.new(payload=text, unique_key=text, schedule_id=text, headers={text: text, "plain": text})
        for text in HOSTILE
    ]

    await bench.store.enqueue(jobs)

    for new, job in zip(jobs, await bench.claim(), strict=True):
        expect(job.payload).equals(new.payload, "a payload comes back character for character")
        expect(job.unique_key).equals(new.unique_key, "a unique key comes back character for character")
        expect(job.schedule_id).equals(new.schedule_id, "a schedule id comes back character for character")
        expect(dict(job.headers)).equals(dict(new.headers), "headers come back as they were given")


@check("enqueue.text")
async def a_version_of_a_payload_is_any_number_of_31_bits(bench: Bench) -> None:
    versions = (0, 1, 2**15, 2**16, 2**31 - 1)
    await bench.store.enqueue([bench.new(payload_version=version) for version in versions])

    seen = [job.payload_version for job in await bench.claim()]

    expect(seen).equals(list(versions), "a version comes back as it was given")


@check("enqueue.text")
async def an_empty_payload_is_a_text_too(bench: Bench) -> None:
    await bench.enqueue_one(payload="")

    job = await bench.claim_one()

    expect(job.payload).equals("", "any text comes back character for character")


@check("enqueue.text", "enqueue.atomic")
async def what_no_store_can_keep_is_refused_before_any_write(bench: Bench) -> None:
    for bad in ("a\0b", "\ud800", "x\udfff"):
        refused: list[NewJob] = [
            bench.new(payload=bad),
            bench.new(unique_key=bad),
            bench.new(schedule_id=bad),
            bench.new(headers={bad: "value"}),
            bench.new(headers={"name": bad}),
            bench.new(kind=bad),
            bench.new(queue=bad),
        ]
        for job in refused:
            with expect_refusal(InvalidInput, "a raw NUL or a lone surrogate in any text field is refused"):
                await bench.store.enqueue([bench.new(), job])

    expect(await bench.claim()).equals([], "it is refused before any write")


@check("enqueue.headers")
async def what_a_claimer_does_to_its_headers_is_its_own_affair(bench: Bench) -> None:
    await bench.enqueue_one(headers={"trace": "1"})
    job = await bench.claim_one()

    with suppress(TypeError, AttributeError):  # a mapping that cannot be changed is as good
        job.headers["trace"] = "2"  # type: ignore[index] # pyright: ignore[reportIndexIssue]
    await bench.settle(job, Enqueued())

    again = await bench.claim_one()
    expect(dict(again.headers)).equals({"trace": "1"}, "headers come back as they were given")


@check("enqueue.headers")
async def no_headers_and_changed_headers_come_back_as_they_were_given(bench: Bench) -> None:
    headers = {"trace": "1"}
    await bench.store.enqueue([bench.new(), bench.new(headers=headers), bench.new(headers={"": ""})])
    headers["trace"] = "2"

    jobs = await bench.claim()

    expect([dict(job.headers) for job in jobs]).equals(
        [{}, {"trace": "1"}, {"": ""}], "headers come back as they were given at the enqueue"
    )


@check("enqueue.headers")
async def headers_of_the_project_and_numbers_are_texts_like_others(bench: Bench) -> None:
    headers = {"klokka.max-attempts": "3", "klokka.unknown": "", "Number": "007", "number": "7", "spaced ": " x "}
    await bench.enqueue_one(headers=headers)

    job = await bench.claim_one()

    expect(dict(job.headers)).equals(headers, "headers come back as they were given, whatever their names")


@check("enqueue.limits")
async def what_fits_exactly_is_stored_and_a_byte_more_is_refused(bench: Bench) -> None:
    limits = bench.store.traits.limits
    fits: list[NewJob] = [
        bench.new(unique_key="k" * limits.key),
        bench.new(unique_key="é" * (limits.key // 2)),
        bench.new(schedule_id="s" * limits.name),
        bench.new(headers={"h" * 10: "v" * (limits.headers - 10)}),
    ]
    beyond: list[NewJob] = [
        bench.new(unique_key="k" * (limits.key + 1)),
        bench.new(unique_key="é" * (limits.key // 2 + 1)),
        bench.new(schedule_id="s" * (limits.name + 1)),
        bench.new(headers={"h" * 11: "v" * (limits.headers - 10)}),
    ]
    if limits.payload <= LARGE:
        fits += [bench.new(payload="p" * limits.payload), bench.new(payload="é" * (limits.payload // 2))]
        beyond += [bench.new(payload="p" * (limits.payload + 1)), bench.new(payload="é" * (limits.payload // 2 + 1))]

    for new in beyond:
        with expect_refusal(LimitExceeded, "beyond a stated limit there is a typed error"):
            await bench.store.enqueue([bench.new(), new])
    expect(await bench.claim()).equals([], "beyond a limit nothing is written")
    results = await bench.store.enqueue(fits)

    claimed = {job.id: job for job in await bench.claim()}
    for new, result in zip(fits, results, strict=True):
        job = claimed[result.id]
        expect((job.payload, job.unique_key, job.schedule_id, dict(job.headers))).equals(
            (new.payload, new.unique_key, new.schedule_id, dict(new.headers)), "what is within the limits comes back"
        )


@check("enqueue.limits")
async def kinds_and_queues_are_1_to_128_plain_characters(bench: Bench) -> None:
    longest = "a" * 128
    for name in ("", "a" * 129, "Upper", "with space", "a/b", "é", "a\n", "a:b"):
        with expect_refusal(InvalidName, "a kind has 1 to 128 characters of a-z 0-9 - . _"):
            await bench.store.enqueue([bench.new(kind=name)])
        with expect_refusal(InvalidName, "a queue is named like a kind"):
            await bench.store.enqueue([bench.new(queue=name)])

    for name in (longest, "0", "-", ".", "_", "a.b-c_d.9"):
        await bench.enqueue_one(kind=name, queue=name)
        job = await bench.claim_one(queues=[name], kinds=[name])
        expect((job.kind, job.queue)).equals((name, name), "a name within the rule is kept as it is")


@check("enqueue.limits", "enqueue.unique")
async def an_empty_key_is_refused_since_no_key_is_none(bench: Bench) -> None:
    with expect_refusal(InvalidInput, "no key at all is None, never an empty text"):
        await bench.store.enqueue([bench.new(unique_key="", run_at=HOUR)])

    expect(await bench.store.next_due(queues=["default"], kinds=["tck.job"])).equals(None, "nothing was written")
