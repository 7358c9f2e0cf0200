"""Fixtures: emulated AWS, the sandbox's environment with it, and a separate Pulumi home for each test."""

from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from landbridge.environment import Environment, load_environment
from sandbox.aws_emulator.process import EmulatorProcess, running
from sandbox.pulumi_provider.engine.find import Engine, find_engine
from sandbox.pulumi_provider.prefork import prefork_server
from sandbox.pulumi_provider.prefork_client import SOCKET_VARIABLE as PREFORK

ROOT = Path(__file__).resolve().parents[2]
SANDBOX = ROOT / "stacks" / "Pulumi.sandbox.yaml"


#: True if the test's call failed.
FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


@pytest.fixture(autouse=True)
def _no_leftovers_of_a_failed_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """Delete all resources after a failed test, so that the next tests do not fail for the same names."""
    yield
    if "cloud" in request.fixturenames and request.node.stash.get(FAILED, False):
        request.getfixturevalue("cloud").control(wipe=True)


@pytest.fixture(scope="session")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorProcess]:
    """Yield one emulated AWS for the session; each test deletes the resources that it created."""
    with running(tmp_path_factory.mktemp("cloud"), "--with-parent", "--launcher", "none") as emulator:
        yield emulator


@pytest.fixture
def environment_file(tmp_path: Path, cloud: EmulatorProcess) -> Path:
    """Return a copy of the sandbox's environment with another name, whose AWS is the session's."""
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
    with prefork_server(tmp_path_factory.mktemp("plugins")) as server:
        yield server


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefork: Path) -> Engine:
    """Return the engine, with the stand-ins first on PATH and its state in the test's folder."""
    from sandbox.pulumi_provider.engine.environment import sandbox_variables

    installed = find_engine()
    if not isinstance(installed, Engine):
        pytest.skip(str(installed))
    for name in ("PULUMI_BACKEND_URL", "PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv(PREFORK, str(prefork))
    monkeypatch.chdir(ROOT)
    for name, value in sandbox_variables("graph", installed).items():
        monkeypatch.setenv(name, value)
    return installed
