"""Validity of the host's certificate for IAM Roles Anywhere, as the role `roles_anywhere` writes it."""

import json
from dataclasses import dataclass
from pathlib import Path

DAY_SECONDS = 86400.0


@dataclass(frozen=True, slots=True)
class CertificateValidity:
    """End of the certificate, and the time before it from which the host reports it."""

    not_after: float
    alarm_seconds: float


def read_validity(file: Path) -> CertificateValidity | None:
    """Return the validity in a file; None if it cannot be read."""
    try:
        content = json.loads(file.read_text())
        return CertificateValidity(float(content["not_after"]), DAY_SECONDS * float(content["alarm_days"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
