"""Ciphers of a file of secrets: Ansible Vault in this process, and the program sops."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

#: Source: Ansible, "Configuration Settings", DEFAULT_VAULT_PASSWORD_FILE.
PASSWORD_VARIABLE = "ANSIBLE_VAULT_PASSWORD_FILE"
#: Seconds for the program that prints the password, and for sops, which may ask a key service.
_TIMEOUT = 120


class SecretsError(Exception):
    """Store of secrets that cannot be read or written; the message contains no secret."""


class FileCipher(Protocol):
    """Encryption of a file. Texts are passed in memory."""

    def decrypt(self, path: Path) -> bytes: ...
    def encrypt(self, path: Path, text: bytes) -> bytes: ...


@dataclass(frozen=True)
class AnsibleVault:
    """Ansible Vault with one password: `ansible-vault view` and `edit` work on the file too."""

    password_file: str | None

    def decrypt(self, path: Path) -> bytes:
        """Return the decrypted content. Raises SecretsError."""
        from ansible.errors import AnsibleError

        try:
            return bytes(self._vault().decrypt(path.read_bytes()))
        except AnsibleError:
            raise SecretsError(
                f"{path}: not encrypted with ansible-vault, or not with the password of {self._source()}"
            ) from None

    def encrypt(self, path: Path, text: bytes) -> bytes:
        """Return the encrypted content. Raises SecretsError."""
        return bytes(self._vault().encrypt(text))

    def _vault(self) -> Any:
        from ansible.parsing.vault import VaultLib, VaultSecret

        return VaultLib([("default", VaultSecret(self._password()))])

    def _source(self) -> str:
        source = self.password_file or os.environ.get(PASSWORD_VARIABLE, "")
        if not source:
            raise SecretsError(
                f"no password for ansible-vault: write secrets.password_file, or set {PASSWORD_VARIABLE}"
            )
        return str(Path(source).expanduser())

    def _password(self) -> bytes:
        path = Path(self._source())
        try:
            mode = path.stat().st_mode
            if mode & 0o111:
                completed = subprocess.run([str(path)], capture_output=True, timeout=_TIMEOUT, check=False)
                if completed.returncode != 0:
                    raise SecretsError(f"{path} ended with status {completed.returncode} instead of the password")
                password = completed.stdout
            else:
                if mode & 0o077:
                    raise SecretsError(f"{path} can be read by other users: chmod 600 {path}")
                password = path.read_bytes()
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SecretsError(f"{path}: no password ({getattr(error, 'strerror', None) or 'timeout'})") from None
        if not password.strip():
            raise SecretsError(f"{path}: the password is empty")
        return password.strip()


@dataclass(frozen=True)
class Sops:
    """Program sops. The keys that may decrypt a new file are those of `.sops.yaml` in its folder or above."""

    def decrypt(self, path: Path) -> bytes:
        """Return the decrypted content. Raises SecretsError."""
        return self._run(path, ["decrypt", "--output-type", "yaml", str(path)])

    def encrypt(self, path: Path, text: bytes) -> bytes:
        """Return the encrypted content. Raises SecretsError."""
        types = ["--input-type", "yaml", "--output-type", "yaml"]
        return self._run(path, ["encrypt", "--filename-override", str(path), *types, "/dev/stdin"], text)

    def _run(self, path: Path, arguments: list[str], text: bytes = b"") -> bytes:
        try:
            completed = subprocess.run(
                ["sops", *arguments], input=text, capture_output=True, cwd=path.parent, timeout=_TIMEOUT, check=False
            )
        except FileNotFoundError:
            raise SecretsError(f"{path}: the program sops is not installed") from None
        except subprocess.TimeoutExpired:
            raise SecretsError(f"{path}: sops did not end within {_TIMEOUT} s") from None
        if completed.returncode != 0:
            reason = completed.stderr.decode(errors="replace").strip().splitlines()
            raise SecretsError(f"{path}: sops {arguments[0]}: {reason[0] if reason else 'failed'}")
        return completed.stdout
