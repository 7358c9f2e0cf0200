"""Rules about secrets."""

from collections.abc import Iterator

from landbridge.environment import Environment, Loaded
from landbridge.findings import DataPath, Finding, did_you_mean
from landbridge.rules.registry import file_rule


@file_rule
def missing_secret(environment: Environment, loaded: Loaded) -> Iterator[Finding]:
    """A secret that is referred to is in the same file, encrypted: otherwise the roles would find nothing, far later."""
    for name in type(environment.secrets).model_fields:
        reference = getattr(environment.secrets, name)
        if reference is None or reference.config in loaded.secure_keys:
            continue
        path: DataPath = ("secrets", name, "config")
        near = did_you_mean(reference.config, loaded.secure_keys)
        command = f"pulumi config set --secret {reference.config} -s {environment.name}"
        fix = f'did you mean "{near}"?' if near else f"run: {command}"
        message = f"the secret {reference.config} is not in this file as a secure: key"
        yield Finding("missing-secret", message, path, fix)
