"""Secrets that an environment needs and its store lacks, and what `landbridge configure` lacks on this machine."""

from collections.abc import Iterator

from landbridge.catalog.site_secrets import site_secrets
from landbridge.environment import Environment
from landbridge.findings import Finding
from landbridge.ops.secrets.cipher import SecretsError
from landbridge.ops.secrets.store import LocalFolder, SecretStore
from landbridge.plan.site.secrets import generated_secrets


def secret_uses(environment: Environment) -> dict[str, str]:
    """Return the use of each secret that the site may have, by name."""
    generated = {name: form.use for name, form in generated_secrets(environment).items()}
    return generated | {name: secret.use for name, secret in site_secrets().optional.items()}


def missing_secrets(environment: Environment, store: SecretStore) -> tuple[str, ...]:
    """Return the generated secrets that the store lacks. Raises SecretsError."""
    values = store.read()
    return tuple(name for name in generated_secrets(environment) if name not in values)


def other_values(store: SecretStore, folder: LocalFolder) -> tuple[str, ...]:
    """Return the names of secrets that this operator's folder has and the store lacks or has with another value."""
    stored = store.read()
    return tuple(name for name, value in folder.read().items() if stored.get(name) != value)


def store_findings(environment: Environment, store: SecretStore) -> Iterator[Finding]:
    """Yield the reasons for which `landbridge configure` cannot read every secret. A folder gets what it lacks."""
    if not store.shared:
        return
    try:
        missing = missing_secrets(environment, store)
    except SecretsError as error:
        yield Finding("secrets-store", str(error), ("secrets",), "get the password or the key from another operator")
        return
    if missing:
        message = f"{store.place} lacks {', '.join(missing)}"
        fix = f"run landbridge secrets init -s {environment.name}, and commit the file"
        yield Finding("secrets-store", message, ("secrets",), fix)
