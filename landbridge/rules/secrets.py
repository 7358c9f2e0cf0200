"""Rules about secrets."""

from collections.abc import Iterator
from typing import Any

from landbridge.clear_text import PATTERNS
from landbridge.environment import Environment, Loaded
from landbridge.findings import DataPath, Finding, did_you_mean, error, warning
from landbridge.rules.registry import file_rule, rule

_OWN = "landbridge:"
_ENVIRONMENT: DataPath = ("config", "landbridge:environment")


@file_rule
def missing_secret(environment: Environment, loaded: Loaded) -> Iterator[Finding]:
    """A referenced secret is in the same file, encrypted: otherwise the Ansible roles fail later.

    Source: Pulumi, "Secrets": `pulumi config set --secret`.
    """
    for name, reference in _references(environment):
        if reference in loaded.secure_keys:
            continue
        path: DataPath = ("secrets", name, "config")
        near = did_you_mean(reference, loaded.secure_keys)
        command = f"pulumi config set --secret {reference} -s {environment.name}"
        fix = f'did you mean "{near}"?' if near else f"run: {command}"
        message = f"the secret {reference} is not in this file as a secure: key"
        yield error(path, message, fix=fix)


@file_rule
def unused_secret(environment: Environment, loaded: Loaded) -> Iterator[Finding]:
    """Every secret of Landbridge in the file is referenced.

    Source: Landbridge: only secrets in `secrets` are read.
    """
    used = {reference for _, reference in _references(environment)}
    for key in sorted(loaded.secure_keys - used):
        if key.startswith(_OWN):
            message = f"nothing in secrets refers to {key}"
            fix = "add a reference, or remove it"
            yield warning(("secrets",), message, fix=fix)


@rule
def duplicate_secret(environment: Environment) -> Iterator[Finding]:
    """No two secrets have the same value: the disclosure of one discloses the other.

    Source: NIST SP 800-57, part 1, section 5.2: a key has one purpose.
    """
    seen: dict[str, str] = {}
    for name, reference in _references(environment):
        first = seen.setdefault(reference, name)
        if first != name:
            message = f"{name} and {first} refer to the same secret"
            related: tuple[DataPath, ...] = (("secrets", first),)
            yield error(("secrets", name, "config"), message, fix="create a separate secret", related=related)


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


def _references(environment: Environment) -> Iterator[tuple[str, str]]:
    for name in type(environment.secrets).model_fields:
        reference = getattr(environment.secrets, name)
        if reference is not None:
            yield name, reference.config


def _texts(data: Any, path: DataPath) -> Iterator[tuple[DataPath, str]]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _texts(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _texts(value, (*path, index))
    elif isinstance(data, str):
        yield path, data
