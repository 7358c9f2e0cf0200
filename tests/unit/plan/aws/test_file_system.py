"""File systems as they are made, for whatever the file says: names, zones, backups, and what reaches them."""

from typing import Any

import pytest
from hypothesis import given, settings

from landbridge.environment import Environment
from landbridge.findings import FindingsError
from landbridge.plan.aws.file_system import FileSystemArgs, LustreSettings, file_system_args, imported_classes
from tests.unit.core.samples import GOOD
from tests.unit.plan.estates import bodies, built

LINK = {"folder": "/data/Sets", "data_class": "internal"}


def planned(scratch: dict[str, Any] | None = None, **shares: Any) -> dict[str, FileSystemArgs]:
    return {own.share: own for own in file_system_args(environment(scratch, **shares))}


def environment(scratch: dict[str, Any] | None = None, **shares: Any) -> Environment:
    storage = {} if scratch is None else {"cloud_scratch": {"kind": "fsx_lustre", **scratch}}
    return built({**GOOD, "storage": {**storage, "cloud_shares": shares}})


@settings(max_examples=40, deadline=None)
@given(bodies(least=1))
def test_whatever_is_asked_for_has_a_name_a_zone_and_a_way_in(body: dict[str, Any]) -> None:
    environment = built(body)
    found = file_system_args(environment)
    assert len({own.name for own in found}) == len({own.share for own in found}) == len(environment.storage.in_aws())
    for own in found:
        assert own.zones and own.protect and own.name.startswith("test-")
        keys = [rule.key for rule in own.security_group_rules]
        assert len(keys) == len(set(keys)), "a rule of a group is named by its key"
        assert any(rule.peer == "client" and rule.direction == "in" for rule in own.security_group_rules)


@pytest.mark.parametrize(
    ("keys", "days", "final"),
    [
        ({}, 0, True),
        ({"backup_days": 14}, 14, True),
        ({"deployment": "scratch_2"}, None, False),
        ({"repositories": [LINK]}, None, False),
        ({"deployment": "persistent_1", "throughput": 100, "import_path": "s3://sets"}, None, False),
    ],
)
def test_a_last_backup_is_kept_wherever_there_can_be_one(keys: dict[str, Any], days: int | None, final: bool) -> None:
    (own,) = planned(keys).values()
    assert (own.backup_days, own.final_backup) == (days, final)


def test_the_hub_s_keys_are_lent_for_what_is_shown_alone() -> None:
    assert imported_classes(environment({"repositories": [LINK]})) == {"internal"}
    assert imported_classes(environment({"repositories": [{"folder": "/a", "bucket": "s3://theirs"}]})) == frozenset()
    assert imported_classes(environment({})) == frozenset()


def test_a_folder_names_its_link_wherever_it_stands_in_the_list() -> None:
    def keys(*links: dict[str, Any]) -> list[str]:
        own = planned({"repositories": list(links)})["cloud_scratch"].settings
        assert isinstance(own, LustreSettings)
        return [link.key for link in own.repositories]

    more = {"folder": "/", "bucket": "s3://theirs"}
    assert keys(LINK) == ["data-sets"] and keys(more, LINK) == ["root", "data-sets"]


def test_the_newest_lustre_and_the_drive_cache_where_there_is_one() -> None:
    hard = {"deployment": "persistent_1", "storage_type": "hdd", "throughput": 12, "capacity_gib": 6000}
    (own,), (usual,) = planned(hard).values(), planned({}).values()
    assert isinstance(own.settings, LustreSettings) and isinstance(usual.settings, LustreSettings)
    assert (own.settings.drive_cache, usual.settings.drive_cache) == ("NONE", None)
    assert own.settings.version == usual.settings.version == "2.15"


def test_a_file_system_without_a_zone_is_told_before_anything_is_made() -> None:
    aws = {**GOOD["aws"], "pools": []}
    body = {**GOOD, "aws": aws, "storage": {"cloud_shares": {"files": {"kind": "efs"}}}}
    with pytest.raises(FindingsError, match="needs subnets in 1 zones"):
        file_system_args(built(body))
