"""Approval of model packages in SageMaker by the alias `champion` of a model's registry. Pure.

A group of model packages has the name of its model: at most 57 characters. A model package belongs to a model version if its
metadata have the version's number. Source (2026-11-26): Amazon SageMaker API Reference, UpdateModelPackage.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from landbridge.models.aliases import CHAMPION

#: Keys of a model package's metadata.
VERSION_KEY, DIGEST_KEY = "landbridge-version", "landbridge-digest"
APPROVED, REJECTED, PENDING = "Approved", "Rejected", "PendingManualApproval"


@dataclass(frozen=True, slots=True)
class ModelPackageState:
    """Model package: its ARN, its approval, and the number and digest of its model version; empty: not stated."""

    arn: str
    approval: str
    version: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalChange:
    """Approval that a package gets, with its reason. `refused`: it has the champion's number, and not its files."""

    package: ModelPackageState
    approval: str
    reason: str
    refused: bool = False


def approval_changes(
    packages: Iterable[ModelPackageState], aliases: Mapping[str, str], digests: Mapping[str, str]
) -> list[ApprovalChange]:
    """Return the changes after which only the champion's packages are approved. Removals come before approvals.

    `digests`: digests of the files by version, as the registry has them. A package without a version keeps a pending approval, and
    loses an approved one. A package whose digest is not that of its version is rejected.
    """
    champion = aliases.get(CHAMPION)
    removals, approvals = [], []
    for package in packages:
        if package.version and package.version == champion:
            if package.digest != digests.get(package.version):
                text = f"its digest is not that of model version {package.version}, or that version may not be in AWS"
                removals.append(ApprovalChange(package, REJECTED, text, refused=True))
            elif package.approval != APPROVED:
                approvals.append(ApprovalChange(package, APPROVED, f"model version {champion} is champion"))
        elif package.approval == APPROVED:
            reason = f"model version {champion} is champion" if champion else "no version is champion"
            removals.append(ApprovalChange(package, PENDING, reason))
    return [*removals, *approvals]
