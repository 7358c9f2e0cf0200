"""IAM policy documents as JSON text."""

import json
from typing import Any


def document(statements: list[dict[str, Any]]) -> str:
    """Render an IAM policy document, with its keys always in the same order."""
    return json.dumps({"Version": "2012-10-17", "Statement": statements}, sort_keys=True)


def merged(text: str, statements: list[dict[str, Any]]) -> str:
    """Return a rendered document with further statements."""
    return document([*json.loads(text)["Statement"], *statements])
