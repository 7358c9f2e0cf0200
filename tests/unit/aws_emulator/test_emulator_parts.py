"""Parts of the emulated AWS: fleet allocation, private addresses, token buckets."""

from ipaddress import IPv4Network

from hypothesis import given
from hypothesis import strategies as st

from sandbox.aws_emulator.ec2.launches.create_fleet import Candidate, fill
from sandbox.aws_emulator.network.private_addresses import AddressBook
from sandbox.aws_emulator.server.throttling import TokenBucket

rooms = st.lists(
    st.builds(Candidate, st.sampled_from(["p5", "p4"]), st.sampled_from(["a", "b"]), st.integers(0, 9)), max_size=6
)


@given(rooms, st.integers(1, 12), st.integers(0, 12), st.booleans(), st.booleans())
def test_a_fleet_is_allocated_within_capacity_and_counts(
    rooms: list[Candidate], total: int, minimum: int, zone: bool, kind: bool
) -> None:
    counts = fill(rooms, total, minimum, zone, kind)
    used = [candidate for candidate, count in zip(rooms, counts, strict=True) if count]
    assert all(0 <= count <= candidate.room for candidate, count in zip(rooms, counts, strict=True))
    assert sum(counts) == 0 or min(minimum, total) <= sum(counts) <= total
    assert len({candidate.zone for candidate in used}) <= 1 or not zone
    assert len({candidate.instance_type for candidate in used}) <= 1 or not kind
    if not zone and not kind and sum(candidate.room for candidate in rooms) >= max(total, minimum):
        assert sum(counts) == total or minimum > total


@given(st.integers(1, 11), st.sets(st.integers(4, 14), max_size=4))
def test_addresses_are_free_and_different(count: int, reserved: set[int]) -> None:
    subnet, used = IPv4Network("10.60.0.0/28"), dict[str, str]()
    book = AddressBook([f"10.60.0.{n}" for n in reserved])
    possible = book.free(subnet, used)
    assert possible == 11 - len(reserved)
    for _ in range(min(count, possible)):
        used[book.choose(subnet, used)] = "taken"
    assert len(used) == min(count, possible)
    assert not reserved & {int(address.rpartition(".")[2]) for address in used}
    assert not {"10.60.0.0", "10.60.0.1", "10.60.0.2", "10.60.0.3", "10.60.0.15"} & set(used)


def test_a_token_bucket_refills() -> None:
    clock = [0.0]
    bucket = TokenBucket(2, 0.5, lambda: clock[0])
    assert [bucket.take(), bucket.take(), bucket.take()] == [True, True, False]
    clock[0] = 2.0
    assert [bucket.take(), bucket.take()] == [True, False]
