"""Rules about secrets."""

from collections.abc import Iterator
from typing import Any

from landbridge.clear_text import PATTERNS
from landbridge.environment import Environment, Loaded
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.rules.registry import file_rule

_OWN = "landbridge:"
_ENVIRONMENT: DataPath = ("config", "landbridge:environment")


@file_rule
def unused_secret(environment: Environment, loaded: Loaded) -> Iterator[Finding]:
    """Encrypted keys of Landbridge in the file have no reader.

    Source: Landbridge: secrets of hosts are files on the operator's machine (docs/how-to/share-the-state.md).
    """
    for key in sorted(loaded.secure_keys):
        if key.startswith(_OWN):
            yield warning((), f"nothing reads the encrypted key {key}", fix="remove it")


@file_rule(suppressible=False)
def secret_in_clear(environment: Environment, loaded: Loaded) -> Iterator[Finding]:
    """The file contains no secret in clear text: it is committed, and stays in the history.

    Source: Pulumi, "Secrets"; AWS, "Best practices for managing AWS access keys".
    """
    for path, text in _texts(loaded.source.data.get("config", {}) if isinstance(loaded.source.data, dict) else {}, ()):
        if path[-1:] == ("secure",):
            continue
        for noun, pattern in PATTERNS.items():
            if pattern.search(text):
                environment_path = path[1:] if path[:1] == _ENVIRONMENT[1:] else ()
                message = f"the text contains {noun} in clear text"
                fix = "revoke it, then run: pulumi config set --secret"
                yield error(environment_path, message, fix=fix)


def _texts(data: Any, path: DataPath) -> Iterator[tuple[DataPath, str]]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _texts(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _texts(value, (*path, index))
    elif isinstance(data, str):
        yield path, data
