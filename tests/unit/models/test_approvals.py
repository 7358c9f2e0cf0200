"""Only the champion's model packages are approved, and one with other files is rejected."""

import pytest

from landbridge.models.approvals import APPROVED, PENDING, REJECTED, ModelPackageState, approval_changes

DIGESTS = {"1": "aa", "2": "bb"}


def package(version: str, approval: str = PENDING, digest: str | None = None) -> ModelPackageState:
    return ModelPackageState(
        f"arn/{version}", approval, version, DIGESTS.get(version, "") if digest is None else digest
    )


def changes(*packages: ModelPackageState, champion: str | None = "2") -> list[tuple[str, str, bool]]:
    aliases = {"candidate": "1"} | ({"champion": champion} if champion else {})
    return [
        (each.package.version, each.approval, each.refused) for each in approval_changes(packages, aliases, DIGESTS)
    ]


@pytest.mark.parametrize("before", [PENDING, REJECTED])
def test_the_champion_is_approved_after_the_former_one_lost_its_approval(before: str) -> None:
    assert changes(package("2", before), package("1", APPROVED)) == [("1", PENDING, False), ("2", APPROVED, False)]


def test_nothing_changes_a_second_time() -> None:
    assert changes(package("1"), package("2", APPROVED), package("", REJECTED)) == []


@pytest.mark.parametrize("approval", [PENDING, APPROVED, REJECTED])
def test_other_files_with_the_number_of_the_champion_are_rejected(approval: str) -> None:
    assert changes(package("2", approval, digest="other")) == [("2", REJECTED, True)]


def test_without_a_champion_nothing_is_approved() -> None:
    assert changes(package("1", APPROVED), package("2"), champion=None) == [("1", PENDING, False)]


def test_a_package_without_a_version_is_not_approved() -> None:
    assert changes(package("", APPROVED), package("")) == [("", PENDING, False)]


def test_a_champion_whose_class_may_not_be_in_aws_is_not_approved() -> None:
    (change,) = approval_changes([package("2")], {"champion": "2"}, {})
    assert change.refused and change.approval == REJECTED
