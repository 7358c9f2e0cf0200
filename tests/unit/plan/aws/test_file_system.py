"""File systems in AWS for any environment file: names, zones, backups and security group rules."""

from typing import Any

import pytest
from hypothesis import given, settings

from landbridge.environment import Environment
from landbridge.findings import FindingsError
from landbridge.plan.aws.storage.file_system import FileSystemArgs, LustreSettings, file_system_args, imported_classes
from tests.unit.core.samples import GOOD
from tests.unit.plan.estates import bodies, built

LINK = {"folder": "/data/Sets", "data_class": "internal"}


def planned(scratch: dict[str, Any] | None = None, **shares: Any) -> dict[str, FileSystemArgs]:
    return {args.share: args for args in file_system_args(environment(scratch, **shares))}


def environment(scratch: dict[str, Any] | None = None, **shares: Any) -> Environment:
    storage = {} if scratch is None else {"cloud_scratch": {"kind": "fsx_lustre", **scratch}}
    return built({**GOOD, "storage": {**storage, "cloud_shares": shares}})


@settings(max_examples=40, deadline=None)
@given(bodies(least=1))
def test_every_file_system_has_a_unique_name_zones_and_an_ingress_rule(body: dict[str, Any]) -> None:
    environment = built(body)
    all_args = file_system_args(environment)
    assert (
        len({args.name for args in all_args})
        == len({args.share for args in all_args})
        == len(environment.storage.in_aws())
    )
    for args in all_args:
        assert args.zones and args.protect and args.name.startswith("test-")
        keys = [rule.key for rule in args.security_group_rules]
        assert len(keys) == len(set(keys)), "a rule of a group is named by its key"
        assert any(rule.peer == "client" and rule.direction == "in" for rule in args.security_group_rules)


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
def test_a_file_system_has_a_final_backup_if_its_kind_supports_backups(
    keys: dict[str, Any], days: int | None, final: bool
) -> None:
    (args,) = planned(keys).values()
    assert (args.backup_days, args.final_backup) == (days, final)


def test_only_data_classes_of_linked_repositories_are_imported() -> None:
    assert imported_classes(environment({"repositories": [LINK]})) == {"internal"}
    assert imported_classes(environment({"repositories": [{"folder": "/a", "bucket": "s3://theirs"}]})) == frozenset()
    assert imported_classes(environment({})) == frozenset()


def test_a_repository_link_is_named_after_its_folder() -> None:
    def keys(*links: dict[str, Any]) -> list[str]:
        settings = planned({"repositories": list(links)})["cloud_scratch"].settings
        assert isinstance(settings, LustreSettings)
        return [link.key for link in settings.repositories]

    another = {"folder": "/", "bucket": "s3://theirs"}
    assert keys(LINK) == ["data-sets"] and keys(another, LINK) == ["root", "data-sets"]


def test_lustre_has_the_newest_version_and_a_drive_cache_only_for_hdd() -> None:
    hard = {"deployment": "persistent_1", "storage_type": "hdd", "throughput": 12, "capacity_gib": 6000}
    (hdd,), (ssd,) = planned(hard).values(), planned({}).values()
    assert isinstance(hdd.settings, LustreSettings) and isinstance(ssd.settings, LustreSettings)
    assert (hdd.settings.drive_cache, ssd.settings.drive_cache) == ("NONE", None)
    assert hdd.settings.version == ssd.settings.version == "2.15"


def test_a_file_system_without_a_zone_is_a_finding() -> None:
    aws = {**GOOD["aws"], "pools": []}
    body = {**GOOD, "aws": aws, "storage": {"cloud_shares": {"files": {"kind": "efs"}}}}
    with pytest.raises(FindingsError, match="needs subnets in 1 zones"):
        file_system_args(built(body))
