"""Mistakes with the backend of Pulumi's state."""

from tests.unit.core.samples import REMOVED
from tests.unit.rules.row import Row

ROWS = [
    Row("state-not-chosen", "protected data and no chosen backend of the state", {("state",): REMOVED}, ("state",), "a second time"),
    Row("state-secrets-provider", "a shared state whose passphrase is on one machine", {("state",): {"backend": "s3://states"}}, ("state", "backend"), "awskms://"),
]  # fmt: skip
