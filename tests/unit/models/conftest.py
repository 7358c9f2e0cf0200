"""Two MLflow servers on loopback, a CA with a signer, and the program `landbridge model`."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from landbridge.certificates import certificates_in, new_authority
from landbridge.cli.main import build
from landbridge.models.signers import new_signer
from tests.unit.models.folders import NOW


@dataclass(frozen=True)
class Operator:
    """Operator at a registry, with a signer's key and the certificate of its CA in files."""

    uri: str
    key: Path
    trust: Path

    def run(self, *words: str | Path, trust: bool = False, code: int = 0, uri: str | None = None) -> Result:
        """Run a command, and return its result after its exit status was compared."""
        options = ["--tracking-uri", uri or self.uri, *(["--trust", str(self.trust)] if trust else [])]
        result = CliRunner().invoke(build(), ["model", *map(str, words), *options])
        assert result.exit_code == code, result.output
        return result

    def publish(self, folder: Path) -> str:
        """Register and sign a folder; return NAME/VERSION."""
        version = self.run("register", folder).stdout.split()[0]
        self.run("sign", version, "--key", self.key)
        return version

    def promote(self, version: str, *aliases: str) -> None:
        """Move aliases to a version, one after another."""
        for alias in aliases:
            self.run("promote", version, alias, "--reason", "test", trust=True)


def server(folder: Path) -> Iterator[str]:
    """Start a registry, and yield its URI."""
    program = [sys.executable, str(Path(__file__).with_name("registry_server.py")), str(folder)]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()


@pytest.fixture(scope="session")
def registry_uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    yield from server(tmp_path_factory.mktemp("registry"))


@pytest.fixture(scope="session")
def other_registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    yield from server(tmp_path_factory.mktemp("other-registry"))


@pytest.fixture(scope="session")
def operator(registry_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Operator:
    folder = tmp_path_factory.mktemp("operator")
    key, certificate = new_authority("Site CA", NOW - timedelta(days=30))
    (folder / "ca.pem").write_bytes(certificate)
    (folder / "signer.pem").write_text(new_signer((key + certificate).decode(), "acme model signer", NOW))
    (folder / "signer.pem").chmod(0o600)
    assert certificates_in((folder / "signer.pem").read_text())
    return Operator(registry_uri, folder / "signer.pem", folder / "ca.pem")
