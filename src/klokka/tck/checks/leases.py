"""Named leases and their cursors."""

from datetime import UTC, datetime, timedelta

from klokka.core.ids import Fence
from klokka.spi.keys import LeaseStore
from klokka.spi.store import JobStore
from klokka.tck.bench import HOUR, MINUTE, Bench
from klokka.tck.check import check
from klokka.tck.violations import expect, present

T0 = datetime(2026, 5, 5, 5, 5, 5, tzinfo=UTC)


async def _acquired(bench: Bench, name: str = "ticker", owner: str = "me", ttl: timedelta = HOUR) -> Fence:
    return present(await bench.leases.acquire_lease(name, owner, ttl), "a lease that nobody holds is given")


@check("lease.one", needs=LeaseStore)
async def a_held_lease_is_given_to_nobody_else(bench: Bench) -> None:
    fence = await _acquired(bench)

    expect(await bench.leases.acquire_lease("ticker", "other", HOUR)).equals(None, "one owner at a time")
    expect(await bench.leases.acquire_lease("another", "other", HOUR)).differs(None, "for each name")
    expect(await bench.leases.acquire_lease("ticker", "me", HOUR)).equals(
        fence, "its owner renews, and keeps the fence"
    )


@check("lease.one", "time.store-clock", needs=LeaseStore, given="advance")
async def a_lease_by_name_covers_the_instants_before_its_end(bench: Bench) -> None:
    first = await _acquired(bench, ttl=MINUTE)
    await bench.pass_time(MINUTE - bench.step)
    expect(await bench.leases.acquire_lease("ticker", "other", HOUR)).equals(None, "one step before its end it holds")
    await bench.pass_time(bench.step)

    second = present(await bench.leases.acquire_lease("ticker", "other", HOUR), "at its end it is over")

    expect(second).above(first, "any acquisition after the end gets a higher fence")


@check("lease.one", needs=LeaseStore, given="advance")
async def a_renewal_lasts_from_now_on(bench: Bench) -> None:
    fence = await _acquired(bench, ttl=MINUTE)
    for _ in range(3):
        await bench.pass_time(MINUTE - bench.step)
        expect(await bench.leases.acquire_lease("ticker", "me", MINUTE)).equals(fence, "the owner's own call renews")
        expect(await bench.leases.acquire_lease("ticker", "other", MINUTE)).equals(None, "one owner at a time")

    await bench.pass_time(MINUTE)
    expect(await bench.leases.acquire_lease("ticker", "other", MINUTE)).differs(None, "it ends at its new end")


@check("lease.one", needs=LeaseStore)
async def the_same_owner_gets_a_higher_fence_after_the_end(bench: Bench) -> None:
    first = await _acquired(bench, ttl=bench.short)
    await bench.pass_time(bench.short)

    second = await _acquired(bench)

    expect(second).above(first, "any acquisition after the end, the same owner's too, gets a higher fence")


@check("lease.one", needs=LeaseStore)
async def only_its_owner_releases_a_lease_and_the_fence_does_not_restart(bench: Bench) -> None:
    fence = await _acquired(bench)

    expect(await bench.leases.release_lease("ticker", "other")).equals(False, "only its owner ends it")
    expect(await bench.leases.release_lease("unknown", "me")).equals(False, "an unknown lease is nobody's")
    expect(await bench.leases.acquire_lease("ticker", "other", HOUR)).equals(None, "it is still held")
    expect(await bench.leases.release_lease("ticker", "me")).equals(True, "its owner ends it now")
    expect(await bench.leases.release_lease("ticker", "me")).equals(False, "once")
    for owner in ("me", "other"):
        following = await _acquired(bench, owner=owner)
        expect(following).above(fence, "the fence does not restart")
        fence = following
        await bench.leases.release_lease("ticker", owner)


@check("lease.one", needs=LeaseStore)
async def of_many_who_want_a_lease_one_gets_it(bench: Bench) -> None:
    async def acquire(store: JobStore, number: int) -> list[Fence | None]:
        leases = present(store if isinstance(store, LeaseStore) else None, "every handle has the capability")
        return [await leases.acquire_lease(f"{prefix}{name}", f"owner-{number}", HOUR) for name in range(5)]

    for crowd in (bench.gathered, bench.threaded):
        prefix = crowd.__name__
        fences = await crowd(6, acquire)
        for of_name in zip(*fences, strict=True):
            expect(sum(fence is not None for fence in of_name)).equals(1, "one owner at a time")

    for name in range(5):
        await bench.leases.acquire_lease(f"short{name}", "old", bench.short)
    await bench.pass_time(bench.short)
    prefix = "short"
    for of_name in zip(*await bench.threaded(6, acquire), strict=True):
        expect(sum(fence is not None for fence in of_name)).equals(
            1, "one owner at a time, when an ended one is replaced"
        )


@check("lease.cursor", needs=LeaseStore)
async def a_cursor_moves_forward_only(bench: Bench) -> None:
    fence = await _acquired(bench)

    async def advance(to: datetime, name: str = "cursor") -> bool:
        return await bench.leases.advance_cursor(name, to, lease="ticker", fence=fence)

    expect(await bench.leases.read_cursor("cursor")).equals(None, "None before its first move")
    expect(await advance(T0)).equals(True, "the holder of the lease moves it")
    expect(await advance(T0)).equals(False, "forward only, and not to where it stands")
    expect(await advance(T0 - bench.step)).equals(False, "forward only")
    expect(await bench.leases.read_cursor("cursor")).equals(T0, "where it stands")
    expect(await advance(T0 + bench.step)).equals(True, "a step is forward")
    expect(await bench.leases.read_cursor("cursor")).equals(T0 + bench.step, "where it stands")
    expect(await advance(T0 - HOUR, "another")).equals(True, "each name has its own cursor")
    expect(await bench.leases.read_cursor("cursor")).equals(T0 + bench.step, "where it stands")


@check("lease.cursor", "lease.one", needs=LeaseStore)
async def a_ticker_that_lost_its_lease_records_nothing(bench: Bench) -> None:
    mine = await _acquired(bench, ttl=bench.short)
    await bench.pass_time(bench.short)

    async def advance(fence: int, lease: str = "ticker") -> bool:
        return await bench.leases.advance_cursor("cursor", T0, lease=lease, fence=Fence(fence))

    expect(await advance(mine)).equals(False, "only while the lease lasts")
    theirs = await _acquired(bench, owner="other")
    expect(await advance(mine)).equals(False, "only under the current fence")
    for fence in (theirs + 1, 0, -1, 2**70):
        expect(await advance(fence)).equals(False, "only under the current fence")
    expect(await advance(theirs, "unknown")).equals(False, "only under a lease that is held")
    await _acquired(bench, name="elsewhere")
    expect(await advance(theirs, "elsewhere")).equals(False, "only under the fence of that very lease")
    expect(await bench.leases.read_cursor("cursor")).equals(None, "nothing was recorded")
    expect(await advance(theirs)).equals(True, "and the current holder may")


@check("lease.cursor", needs=LeaseStore, given="advance")
async def a_cursor_moves_up_to_the_instant_before_the_end_of_the_lease(bench: Bench) -> None:
    fence = await _acquired(bench, ttl=MINUTE)
    await bench.pass_time(MINUTE - bench.step)
    moved = await bench.leases.advance_cursor("cursor", T0, lease="ticker", fence=fence)
    expect(moved).equals(True, "one step before its end the lease lasts")
    await bench.pass_time(bench.step)

    moved = await bench.leases.advance_cursor("cursor", T0 + HOUR, lease="ticker", fence=fence)

    expect(moved).equals(False, "at its end it is over")
    expect(await bench.leases.read_cursor("cursor")).equals(T0, "and nothing was recorded")


@check("lease.cursor", needs=LeaseStore)
async def a_released_lease_moves_no_cursor(bench: Bench) -> None:
    fence = await _acquired(bench)
    await bench.leases.release_lease("ticker", "me")

    moved = await bench.leases.advance_cursor("cursor", T0, lease="ticker", fence=fence)

    expect(moved).equals(False, "only while the lease lasts")
    expect(await bench.leases.read_cursor("cursor")).equals(None, "and nothing was recorded")


@check("lease.one", needs=LeaseStore)
async def a_renewed_lease_ends_its_ttl_after_the_renewal(bench: Bench) -> None:
    for _ in range(3):
        await _acquired(bench, ttl=bench.short)

    await bench.pass_time(bench.short)

    expect(await bench.leases.acquire_lease("ticker", "other", HOUR)).differs(None, "`ttl` counts from the renewal on")
