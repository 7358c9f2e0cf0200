"""What the file may say already, and Landbridge does not build."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, Severity
from landbridge.rules.registry import rule


@rule
def not_built_yet(environment: Environment) -> Iterator[Finding]:
    """What the file may say already, and Landbridge plans but does not build: nobody should wait for it unknowingly.

    Source: Landbridge (CHANGELOG.md).
    """
    pending: list[tuple[bool, str, DataPath]] = [
        (environment.storage.cloud_scratch is not None, "FSx for Lustre", ("storage", "cloud_scratch")),
        (environment.mlops.registry is not None, "a container registry", ("mlops", "registry")),
        (
            len(environment.onprem.services.controller) > 1,
            "a standby controller",
            ("onprem", "services", "controller", 1),
        ),
        (environment.link.kind == "direct_connect", "Direct Connect", ("link", "kind")),
    ]
    for wanted, what, path in pending:
        if wanted:
            yield Finding(
                "not-built-yet", f"{what} is checked and planned, but not built yet", path, severity=Severity.WARNING
            )
