"""Legal moves of aliases, and the hash chain of their records."""

from itertools import pairwise

from landbridge.models.aliases import AliasMove, promotion, rollback
from landbridge.models.history import AliasRecord, aliases_at, champions, moved_elsewhere, next_record, read_history

HOUR = 3600.0
MOVES = [
    ("candidate", "1"),
    ("staging", "1"),
    ("champion", "1"),
    ("candidate", "2"),
    ("staging", "2"),
    ("champion", "2"),
]


def recorded() -> list[AliasRecord]:
    records: list[AliasRecord] = []
    for hour, (alias, version) in enumerate(MOVES):
        move = AliasMove(alias, aliases_at(records).get(alias, ""), version)
        records.append(next_record(records, move, hour * HOUR, "alice", "because"))
    return records


def tags() -> dict[str, str]:
    return {record.tag: record.to_json() for record in recorded()}


def test_an_alias_goes_from_candidate_over_staging_to_champion() -> None:
    aliases = {"candidate": "2", "staging": "1", "champion": "1"}
    assert promotion(aliases, "2", "staging") == AliasMove("staging", "1", "2")
    assert "version 2 is not staging (1 is)" in str(promotion(aliases, "2", "champion"))
    assert "version 3 is not candidate (2 is)" in str(promotion(aliases, "3", "staging"))
    assert "not an alias" in str(promotion(aliases, "2", "latest"))
    # A move whose record was written before the program was killed is repeated.
    assert promotion({**aliases, "staging": "3"}, "1", "champion") == AliasMove("champion", "1", "1")


def test_champion_goes_back_to_a_former_champion_only() -> None:
    aliases = {"champion": "3"}
    assert rollback(aliases, ["1", "2", "3"], None) == AliasMove("champion", "3", "2")
    assert rollback(aliases, ["1", "2", "3"], "1") == AliasMove("champion", "3", "1")
    assert "never champion" in str(rollback(aliases, ["1", "3"], "2"))
    assert "is champion already" in str(rollback(aliases, ["1", "3"], "3"))
    assert "no version was champion before 3" in str(rollback(aliases, ["3"], None))
    assert rollback({}, ["1"], None) == "no version is champion"


def test_the_aliases_of_a_time_are_those_of_its_records() -> None:
    records, findings = read_history({**tags(), "other": "x"})
    assert findings == () and list(records) == recorded()
    assert aliases_at(records, 2.5 * HOUR) == {"candidate": "1", "staging": "1", "champion": "1"}
    assert aliases_at(records, 4 * HOUR) == {"candidate": "2", "staging": "2", "champion": "1"}
    assert aliases_at(records, -1.0) == {}
    assert champions(records) == ["1", "2"]
    assert all(after.previous == before.digest for before, after in pairwise(records))


def test_a_record_that_was_changed_removed_or_replaced_shows() -> None:
    keys = sorted(tags())
    for key in keys[:-1]:
        changed = tags()
        changed[key] = changed[key].replace("alice", "mallory")
        assert read_history(changed)[1], key
        removed = tags()
        del removed[key]
        assert read_history(removed)[1], key
    for value in ("", "[]", "{}", tags()[keys[0]].replace('"number":1', '"number":"1"')):
        assert read_history({**tags(), keys[0]: value})[1], value


def test_an_alias_elsewhere_than_its_record_says_is_a_finding() -> None:
    records = recorded()
    assert moved_elsewhere(records, {"candidate": "2", "staging": "2", "champion": "2"}) == []
    messages = [
        finding.message for finding in moved_elsewhere(records, {"candidate": "2", "staging": "2", "champion": "9"})
    ]
    assert len(messages) == 1 and messages[0].startswith("champion is at version 9, and its last record has 2")


def test_a_record_of_a_hundred_thousand_levels_is_a_fault_of_the_chain() -> None:
    # Anybody who may edit a model in MLflow writes its tags; the gateway's service and the archive's timer read them.
    records, findings = read_history(tags() | {"landbridge.alias.000007": "[" * 5000})
    assert len(records) == 6
    assert [finding.message for finding in findings] == ["record 7 cannot be read: ValueError"]
