"""Requirements of tests for the machine, by marker; the summary names the missing ones."""

import gc
import os
import sys
from collections.abc import Generator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from sandbox import botocore_files
from tests.runner import lab_lock, own_state
from tests.runner.order import longest_first
from tests.runner.results import PHASE, line
from tests.thorough import LONG

if TYPE_CHECKING:
    from sandbox.demo.bring_up import BringUp

# Programs under test must not call home, and must not see the settings of the user who runs the tests.
os.environ.update(MLFLOW_DISABLE_TELEMETRY="true", DO_NOT_TRACK="1", PULUMI_SKIP_UPDATE_CHECK="true")
for name in ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "MLFLOW_TRACKING_URI"):
    os.environ.pop(name, None)

own_state.separate()

# A gate gives the same answer twice: `make test` tries the same examples everywhere, `make test-long` new ones each time.
settings.register_profile("gate", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile("explore" if LONG else "gate")

botocore_files.share()

ROOT = Path(__file__).resolve().parents[1]
#: File for one line per test that has ended, read by `make test`. Removed from the variables, since tests run tests.
RESULTS = os.environ.pop("LANDBRIDGE_TESTS_RESULTS", None)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Write a test's result at once: a tier that is ended early has its results until then, and shows progress."""
    if RESULTS:
        is_result = report.when == "call" or report.failed or report.skipped
        with Path(RESULTS).open("a") as file:
            outcome = report.outcome if is_result else PHASE
            processor_seconds = getattr(report, "processor_seconds", 0.0)
            file.write(line(report.nodeid, outcome, cause(report), report.duration, processor_seconds))


#: Processor seconds of this process and its ended children when the last phase of a test ended.
PROCESSOR_SECONDS = [sum(os.times()[:4])]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the phase's processor seconds to its report: they depend less on other work than its duration does."""
    report = yield
    seconds = sum(os.times()[:4])
    report.processor_seconds = seconds - PROCESSOR_SECONDS[0]
    PROCESSOR_SECONDS[0] = seconds
    return report


def shortened(message: str) -> str:
    """Return the first line of a message, and below it the end of the others: a command's message ends with its output."""
    first, _, others = message.partition("\n")
    return f"{first[:200]}\n{others.rstrip()[-1500:]}".rstrip()


def cause(report: pytest.TestReport) -> str:
    """Return a failure's message in short, or the reason of a skip."""
    if report.skipped and isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    message = str(getattr(crash, "message", "")) or str(report.longrepr or "").strip().rpartition("\n")[2]
    return shortened(message)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Write a module that could not be imported as a failed test."""
    if RESULTS and report.failed:
        last = str(report.longrepr or "").strip().rpartition("\n")[2]
        with Path(RESULTS).open("a") as file:
            file.write(line(report.nodeid, "failed", last[:200]))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect long tests unless requested, and skip, with the reason, tests that this machine cannot run."""
    from sandbox.demo import machine

    items.sort(key=lambda item: longest_first(item.path))
    if not LONG:
        if left_out := [item for item in items if item.get_closest_marker("long")]:
            config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("long")]
    probes = (("lab", machine.lab), ("engine", machine.engine), ("signing_helper", machine.signing_helper))
    for marker, probe in probes:
        wanting = [item for item in items if item.get_closest_marker(marker)]
        if wanting and not (ability := probe()).able:
            for item in wanting:
                item.add_marker(pytest.mark.skip(reason=f"needs the {ability.name}: {ability.why}"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Run the files of a folder with a lab of its own in one process. Without pytest-xdist there is one process."""
    from tests.runner.spread import scheduler

    return scheduler(config, log)


#: Holds the lock of the lab until pytest ends, its fixtures included.
LAB = ExitStack()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Hold the lock of the lab if a selected test uses it; wait for another run of tests. No limit of a test counts yet."""
    # Thousands of collected tests would be looked at in each full collection, and copied in each forked process.
    gc.collect()
    gc.freeze()
    wanting = [item for item in session.items if item.get_closest_marker("lab") and not item.get_closest_marker("skip")]
    if not wanting or session.config.option.collectonly:
        return
    file = lab_lock.lock_file()
    if not lab_lock.is_held_above(file):
        LAB.enter_context(
            lab_lock.held(file, ROOT, partial(_say, session.config), lab_lock.run_of_this_process()),
        )


def pytest_unconfigure() -> None:
    """Release the lock of the lab."""
    LAB.close()


def _say(config: pytest.Config, message: str) -> None:
    """Print a message although pytest captures output; it is a sign of progress for the runner."""
    if RESULTS:
        with Path(RESULTS).open("a") as file:
            file.write(line("waiting for the lab", PHASE))
    with config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print(message, file=sys.stderr, flush=True)


@pytest.fixture(scope="session")
def deployment() -> "BringUp":
    """Return the sandbox's cluster; bring it up unless it runs already as this checkout builds it.

    Its on-prem services have credentials by IAM Roles Anywhere, the default of sites outside AWS, if this machine can
    build AWS's signing helper. It stays up for the next tier; `make test` removes it at the end, if it was not up before.
    """
    from sandbox.demo.bring_up import bring_up
    from sandbox.demo.report import DemoReport
    from sandbox.nspawn import from_environment
    from tests.e2e.support import node_scripts

    deployment = bring_up(
        environment_file(from_environment.find("sandbox")), DemoReport("the tests' cluster"), keep=True
    )
    node_scripts.upload(deployment)
    return deployment


def environment_file(sandbox: Path) -> Path:
    """Return a copy of the sandbox's environment file with scripts of its pool, staging, and a CA for IAM Roles Anywhere.

    For the long tests it has a monitoring host too.
    """
    from landbridge.paths import state_dir
    from sandbox.demo.machine import signing_helper
    from sandbox.demo.work import command, program
    from tests.e2e.support import monitored_site, node_scripts, staged_data

    copied = state_dir("sandbox") / "tests" / sandbox.name
    copied.parent.mkdir(parents=True, exist_ok=True)
    text = staged_data.with_staging(node_scripts.with_scripts(sandbox.read_text()))
    copied.write_text(monitored_site.with_monitoring(text) if LONG else text)
    if signing_helper().able:
        command([program("landbridge"), "credentials", "init", "--file", str(copied)])
    return copied
