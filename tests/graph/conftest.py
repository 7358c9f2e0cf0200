"""The emulated AWS, the sandbox's environment against it, and a Pulumi home of the test's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from landbridge.environment import Environment, load_environment
from sandbox.aws_emulator.process import EmulatorProcess, running
from sandbox.pulumi_provider.engine.find import Engine, find_engine
from sandbox.pulumi_provider.prefork import prefork_server
from sandbox.pulumi_provider.prefork_client import SOCKET_VARIABLE as PREFORK

ROOT = Path(__file__).resolve().parents[2]
SANDBOX = ROOT / "stacks" / "Pulumi.sandbox.yaml"


@pytest.fixture(scope="session")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorProcess]:
    """One emulated AWS for the session; a test leaves it as it found it."""
    with running(tmp_path_factory.mktemp("cloud"), "--with-parent", "--launcher", "none") as found:
        yield found


@pytest.fixture
def environment_file(tmp_path: Path, cloud: EmulatorProcess) -> Path:
    """A copy of the sandbox's environment under a name of its own, whose AWS is the session's."""
    text = SANDBOX.read_text().replace("http://127.0.0.1:4580", cloud.endpoint)
    path = tmp_path / "Pulumi.graph.yaml"
    path.write_text(text)
    return path


@pytest.fixture
def environment(environment_file: Path) -> Environment:
    loaded = load_environment(environment_file)
    assert loaded.environment is not None, loaded.findings
    return loaded.environment


@pytest.fixture(scope="session")
def prefork(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Server that starts the engine's plugins without delay."""
    with prefork_server(tmp_path_factory.mktemp("plugins")) as found:
        yield found


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefork: Path) -> Engine:
    """The engine with the stand-ins first on PATH, and its state in the test's folder."""
    from sandbox.pulumi_provider.engine.environment import sandbox_variables

    found = find_engine()
    if not isinstance(found, Engine):
        pytest.skip(str(found))
    for name in ("PULUMI_BACKEND_URL", "PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv(PREFORK, str(prefork))
    monkeypatch.chdir(ROOT)
    for name, value in sandbox_variables("graph", found).items():
        monkeypatch.setenv(name, value)
    return found
