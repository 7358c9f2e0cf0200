"""What a test may ask of the machine, by marker; what the machine lacks is said in the summary, never passed over."""

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from sandbox.demo.bring_up import BringUp

# Programs under test must not call home, and must not see the settings of whoever runs the tests.
os.environ.update(MLFLOW_DISABLE_TELEMETRY="true", DO_NOT_TRACK="1", PULUMI_SKIP_UPDATE_CHECK="true")
for name in ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "MLFLOW_TRACKING_URI"):
    os.environ.pop(name, None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip, with the reason, what this machine cannot carry."""
    from sandbox.demo import machine

    for marker, probe in (("lab", machine.lab), ("engine", machine.engine)):
        wanting = [item for item in items if item.get_closest_marker(marker)]
        if wanting and not (ability := probe()).able:
            for item in wanting:
                item.add_marker(pytest.mark.skip(reason=f"needs the {marker}: {ability.why}"))


@pytest.fixture(scope="session")
def going() -> "BringUp":
    """The sandbox's cluster, brought up where it does not stand yet as this checkout would build it.

    It is left standing for the next tier; `make test` takes down what it found absent.
    """
    from landbridge.environment import find_environment
    from sandbox.demo.bring_up import bring_up
    from sandbox.demo.report import Report

    return bring_up(find_environment("sandbox"), Report("the tests' cluster"), keep=True)
