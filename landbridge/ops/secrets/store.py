"""Stores of a site's secrets, with one interface: `read` returns all values by name, `write` adds or replaces some.

A value is one line, or the text of a small file without its last line feed. No value is part of a message.
"""

import json
import os
import secrets
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import yaml

from landbridge import yaml_text
from landbridge.catalog.site_secrets import GeneratedSecret, form_of, site_secrets
from landbridge.certificates import new_authority
from landbridge.environment.secrets import SecretsSettings
from landbridge.ops.secrets.cipher import AnsibleVault, FileCipher, SecretsError, Sops

#: Decrypted content of encrypted files in this process and in those that it forks, by path, time of change and size.
_DECRYPTED: dict[tuple[str, int, int], dict[str, str]] = {}


class SecretStore(Protocol):
    """Store of a site's secrets. `place` is its name in messages; a `shared` store is the same for every operator."""

    @property
    def place(self) -> str: ...
    @property
    def shared(self) -> bool: ...
    def read(self) -> dict[str, str]: ...
    def write(self, values: Mapping[str, str]) -> None: ...


@dataclass(frozen=True)
class LocalFolder:
    """Folder of one operator with one file for each secret, 0600."""

    path: Path
    shared: bool = False

    @property
    def place(self) -> str:
        """Return the folder."""
        return str(self.path)

    def read(self) -> dict[str, str]:
        """Return the content of the files whose names are secrets of a site."""
        if not self.path.is_dir():
            return {}
        files = [path for path in sorted(self.path.iterdir()) if path.is_file() and is_secret(path.name)]
        return {path.name: path.read_text().rstrip("\n") for path in files}

    def write(self, values: Mapping[str, str]) -> None:
        """Write the files, each in one step."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, value in values.items():
            write_private(self.path / name, f"{value}\n".encode())

    def generate(self, name: str, form: GeneratedSecret) -> str:
        """Return a secret; it is generated if it does not exist. Of two processes one generates it."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self.path / name
        if not path.exists():
            descriptor, temporary = tempfile.mkstemp(dir=self.path, prefix=".new-")
            with os.fdopen(descriptor, "w") as file:
                file.write(f"{new_value(form)}\n")
            try:
                os.link(temporary, path)
            except FileExistsError:
                pass
            finally:
                os.unlink(temporary)
        return path.read_text().rstrip("\n")


@dataclass(frozen=True)
class EncryptedFile:
    """Encrypted YAML file with one key for each secret. The decrypted text is never on a disk."""

    path: Path
    cipher: FileCipher
    shared: bool = True

    @property
    def place(self) -> str:
        """Return the file."""
        return str(self.path)

    def read(self) -> dict[str, str]:
        """Return the decrypted values; empty if the file does not exist. Raises SecretsError."""
        if not self.path.exists():
            return {}
        state = self.path.stat()
        key = (str(self.path), state.st_mtime_ns, state.st_size)
        if key not in _DECRYPTED:
            _DECRYPTED[key] = self._parse(self.cipher.decrypt(self.path))
        return dict(_DECRYPTED[key])

    def write(self, values: Mapping[str, str]) -> None:
        """Encrypt the present values with the changed ones, and replace the file in one step. Raises SecretsError."""
        before = self.read()
        after = {**before, **values}
        if after == before and self.path.exists():
            return
        # Quoted, because YAML 1.1 and 1.2 take different words for numbers.
        text = yaml.safe_dump(after, default_style='"', sort_keys=True, width=4096)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_private(self.path, self.cipher.encrypt(self.path, text.encode()))

    def _parse(self, text: bytes) -> dict[str, str]:
        try:
            data = yaml_text.load(text.decode())
        except (yaml_text.BadYaml, UnicodeDecodeError):
            # The parser's message would contain a line of the text.
            raise SecretsError(f"{self.path}: its decrypted content is not YAML") from None
        if not isinstance(data, dict):
            raise SecretsError(f"{self.path}: its decrypted content is not a mapping of names to values")
        wrong = sorted(str(name) for name, value in data.items() if not isinstance(value, str))
        if wrong:
            raise SecretsError(f"{self.path}: these values are not text (write quotes): {', '.join(wrong)}")
        return {str(name): value.rstrip("\n") for name, value in data.items()}


def open_store(settings: SecretsSettings, name: str, folder: Path, environment_file: Path) -> SecretStore:
    """Return the store of the environment `name`. `folder`: the operator's secrets folder. Nothing is read yet."""
    if settings.is_local:
        return LocalFolder(folder)
    path = environment_file.resolve().parent / (settings.file or f"secrets.{name}.yaml")
    cipher: FileCipher = AnsibleVault(settings.password_file) if settings.store == "ansible-vault" else Sops()
    return EncryptedFile(path, cipher)


def store_of(description: Mapping[str, str]) -> SecretStore:
    """Return the store of the inventory variable `landbridge_secret_store` (`describe_store`)."""
    if description["store"] == "local":
        return LocalFolder(Path(description["path"]))
    is_vault = description["store"] == "ansible-vault"
    return EncryptedFile(
        Path(description["path"]), AnsibleVault(description["password_file"] or None) if is_vault else Sops()
    )


def describe_store(store: SecretStore) -> dict[str, str]:
    """Return the store as plain data without secrets, for an inventory variable."""
    if isinstance(store, EncryptedFile):
        vault = store.cipher if isinstance(store.cipher, AnsibleVault) else None
        password_file = (vault.password_file or "") if vault is not None else ""
        return {
            "store": "ansible-vault" if vault is not None else "sops",
            "path": store.place,
            "password_file": password_file,
        }
    return {"store": "local", "path": store.place, "password_file": ""}


def new_value(form: GeneratedSecret) -> str:
    """Return a new random value."""
    if form.form == "authority":
        now = datetime.now(UTC)
        key, certificate = new_authority(f"Landbridge site CA {now:%F} {secrets.token_hex(4)}", now)
        return (key + certificate).decode().rstrip("\n")
    return "".join(secrets.choice(form.alphabet) for _ in range(form.length))


def is_secret(name: str) -> bool:
    """Return whether a name is the name of a secret of some site."""
    return name in site_secrets().optional or form_of(name) is not None


def write_private(path: Path, content: bytes) -> None:
    """Write a file with mode 0600 in one step."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    os.replace(temporary, path)


def values_from_json(text: str) -> dict[str, str]:
    """Return the values of a JSON object of names to text. Raises SecretsError without the text."""
    try:
        data = json.loads(text)
    except ValueError:
        raise SecretsError("the input is not JSON") from None
    if not isinstance(data, dict) or not all(isinstance(value, str) and value for value in data.values()):
        raise SecretsError("the input is not a JSON object of names to text")
    return data
