"""Folder of an environment's CA on the operator's machine: its key, its certificate, and certificates of hosts.

    ca.key          private key of the CA, 0600, or a link to it; absent if requests are signed elsewhere
    ca.pem          certificate of the CA, as in the environment file
    issued/HOST.pem    newest certificate of each host
    requests/HOST.csr  request of a host, waiting to be signed elsewhere

Hosts create their keys themselves; no key of a host is here.
"""

import os
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from landbridge.catalog.aws.limits import limits
from landbridge.certificates import (
    CertificateError,
    Issued,
    check_pair,
    has_key_of,
    host_problems,
    new_authority,
    read_authority,
    read_issued,
    read_request,
    refused_tags,
    sign,
)
from landbridge.paths import secrets_dir

NAME = "anywhere"


@dataclass(frozen=True)
class AuthorityFolder:
    """Folder of a CA. It may not exist."""

    path: Path

    @classmethod
    def of(cls, environment: str) -> "AuthorityFolder":
        """Return the folder of an environment, in its secrets folder."""
        return cls(secrets_dir(environment) / NAME)

    @property
    def key(self) -> Path:
        """Return the path of the CA's private key."""
        return self.path / "ca.key"

    @property
    def certificate(self) -> Path:
        """Return the path of the CA's certificate."""
        return self.path / "ca.pem"

    def create(self, name: str, now: datetime) -> str:
        """Create a CA, and return its certificate."""
        key, certificate = new_authority(name, now)
        self._store(self.key, key)
        self._store(self.certificate, certificate)
        return certificate.decode()

    def adopt(self, certificate: Path, key: Path | None, now: datetime) -> str:
        """Take an existing CA: copy its certificate, and link to its key. Return the certificate.

        Raises CertificateError for a certificate that a trust anchor would not accept, or a key of other users or CAs.
        """
        text = _read(certificate)
        read_authority(text, now)
        if key is not None:
            if stat.S_IMODE(key.stat().st_mode) & 0o077:
                raise CertificateError(f"{key} can be read by other users: chmod 600 {key}")
            check_pair(text, _read(key))
        self._store(self.certificate, text)
        self.key.unlink(missing_ok=True)
        if key is not None:
            self.key.symlink_to(key.resolve())
        return text.decode()

    def issue(self, host: str, request: bytes, now: datetime, days: int) -> bytes | None:
        """Return the certificate for a host's request, and keep a copy.

        Without the CA's key: return the certificate that `take` has received for this request's key, else None, and
        keep the request. Raises CertificateError.
        """
        if not self.certificate.is_file():
            raise CertificateError(f"no CA in {self.path}: run landbridge credentials init")
        if self.key.exists():
            certificate = sign(request, host, _read(self.certificate), _read(self.key), now, days)
            self._store(self._issued(host), certificate)
            return certificate
        read_request(request, host)
        if self._issued(host).is_file() and has_key_of(_read(self._issued(host)), request):
            return _read(self._issued(host))
        self._store(self.path / "requests" / f"{host}.csr", request)
        return None

    def take(self, certificate: bytes, hosts: tuple[str, ...], now: datetime) -> str:
        """Keep a certificate that was signed elsewhere; return its host. Raises CertificateError."""
        problems = host_problems(certificate, _read(self.certificate), hosts, now)
        # The issuer is the CA of the environment file, which `landbridge check` reads.
        for key, value in refused_tags(certificate, limits().tags.pattern, ["x509Subject", "x509SAN"]):
            problems.append(f'IAM Roles Anywhere cannot map {key}="{value}" to a session tag')
        if problems:
            raise CertificateError("; ".join(problems))
        host = read_issued(certificate).common_name
        self._store(self._issued(host), certificate)
        return host

    def issued(self) -> Iterator[Issued]:
        """Yield the newest certificate of each host."""
        for path in sorted((self.path / "issued").glob("*.pem")):
            yield read_issued(_read(path))

    def requests(self) -> tuple[Path, ...]:
        """Return the requests that are to be signed elsewhere."""
        return tuple(path for path in sorted((self.path / "requests").glob("*.csr")) if not self._answers(path))

    def _answers(self, request: Path) -> bool:
        issued = self._issued(request.stem)
        return issued.is_file() and issued.stat().st_mtime >= request.stat().st_mtime

    def _issued(self, host: str) -> Path:
        return self.path / "issued" / f"{host}.pem"

    def _store(self, path: Path, content: bytes) -> None:
        """Write a file with mode 0600 in one step."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.replace(temporary, path)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CertificateError(f"{path}: {error.strerror}") from error
