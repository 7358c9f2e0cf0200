"""Rules about secrets."""

from collections.abc import Iterator
from typing import Any

from landbridge.clear_text import PATTERNS
from landbridge.environment import Environment, Loaded
from landbridge.findings import DataPath, Finding, error, info, warning
from landbridge.rules.registry import file_rule, rule

_OWN = "landbridge:"
_ENVIRONMENT: DataPath = ("config", "landbridge:environment")


@rule
def secrets_setting_unused(environment: Environment) -> Iterator[Finding]:
    """Every setting of the store of secrets has an effect: a folder has no file, and only Ansible Vault has a password.

    Source: Landbridge: how each store is read (docs/how-to/keep-secrets.md).
    """
    settings = environment.secrets
    if settings.is_local and settings.file is not None:
        message = f"the store local does not use the file {settings.file}: its secrets are in each operator's folder"
        yield error(("secrets", "file"), message, fix="write store: ansible-vault or store: sops, or remove it")
    if settings.store != "ansible-vault" and settings.password_file is not None:
        message = f"the store {settings.store} has no password file"
        yield error(("secrets", "password_file"), message, fix="remove it, or write store: ansible-vault")


@rule
def secrets_not_shared(environment: Environment) -> Iterator[Finding]:
    """Operators who share Pulumi's state share the secrets: another operator's folder does not have them.

    Each host refuses other secrets than those it was configured with, so that the other operator can change nothing.
    Source: Landbridge: role base, tasks/secrets.yml.
    """
    state = environment.state
    if state is not None and not state.is_local and environment.secrets.is_local:
        message = "the state is shared, but the site's secrets are in a folder of one operator"
        fix = "write secrets: {store: ansible-vault} or {store: sops}, then run landbridge secrets import"
        yield info(("secrets",), message, fix=fix, related=(("state", "backend"),))


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
