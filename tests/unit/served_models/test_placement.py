"""Placement of versions in the two slots: roll, canary, withdrawal, and any order of the registry's moves."""

from hypothesis import given
from hypothesis import strategies as st

from landbridge.serving.follow.placement import Placement, RegistryAliases, adopted, placed

CHAMPION = Placement({"a": "1", "b": ""}, "1")


def test_a_new_champion_serves_only_when_it_is_ready() -> None:
    waiting = placed(CHAMPION, RegistryAliases("2"), {"1": 2}, 5.0)
    assert (waiting.slots, waiting.serving, waiting.staged_at) == ({"a": "1", "b": "2"}, "1", 5.0)
    assert placed(waiting, RegistryAliases("2"), {"1": 2, "2": 1}, 6.0) == waiting, "one of two servers is ready"
    rolled = placed(waiting, RegistryAliases("2"), {"1": 2, "2": 2}, 7.0)
    assert (rolled.slots, rolled.serving) == ({"a": "", "b": "2"}, "2")


def test_a_candidate_gets_the_free_slot_and_leaves_it() -> None:
    staged = placed(CHAMPION, RegistryAliases("1", "2"), {"1": 1}, 5.0)
    assert (staged.slots, staged.candidate, staged.serving) == ({"a": "1", "b": "2"}, "2", "1")
    assert placed(staged, RegistryAliases("1", "2"), {"1": 1}, 9.0) == staged
    assert placed(staged, RegistryAliases("1"), {"1": 1, "2": 1}, 9.0).slots == CHAMPION.slots
    promoted = placed(staged, RegistryAliases("2", "2"), {"1": 1, "2": 1}, 9.0)
    assert (promoted.slots, promoted.serving) == ({"a": "", "b": "2"}, "2")


def test_versions_that_run_already_keep_their_slots() -> None:
    assert adopted({"b": "1"}, "1") == Placement({"a": "", "b": "1"}, "1")
    assert adopted({"a": "3", "b": "1"}, "1") == Placement({"a": "3", "b": "1"}, "1")
    assert adopted({"b": "3"}, "1") == Placement({"a": "", "b": "3"}, "3")
    assert placed(adopted({"b": "3"}, "1"), RegistryAliases("1"), {"3": 1}, 5.0).slots == {"a": "1", "b": "3"}
    assert adopted({}, "1") == Placement()


def test_without_a_champion_nothing_changes() -> None:
    assert placed(CHAMPION, RegistryAliases("", "2"), {"1": 1}, 5.0) == CHAMPION


_VERSIONS = st.sampled_from(["1", "2", "3", "4"])


@given(st.lists(st.tuples(_VERSIONS, st.sampled_from(["", "1", "2", "3", "4"]), st.sets(_VERSIONS)), max_size=12))
def test_the_version_that_serves_always_has_a_slot_and_changes_only_to_a_ready_one(
    moves: list[tuple[str, str, set[str]]],
) -> None:
    placement = Placement()
    for at, (champion, staging, running) in enumerate(moves):
        in_slots = running & set(placement.slots.values())
        after = placed(placement, RegistryAliases(champion, staging), dict.fromkeys(in_slots, 1), float(at))
        assert after.serving in ("", *after.slots.values())
        if after.serving != placement.serving:
            assert after.serving in in_slots, "it was ready"
        placement = after
    # With every server ready the wanted state is reached in three passes, and stays.
    if moves:
        champion, staging, _ = moves[-1]
        for _ in range(3):
            ready = dict.fromkeys((version for version in placement.slots.values() if version), 1)
            placement = placed(placement, RegistryAliases(champion, staging), ready, 99.0)
        wanted = {champion, staging} - {""}
        assert set(placement.slots.values()) - {""} == wanted
        assert placement.serving == champion
