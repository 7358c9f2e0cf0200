"""The digits example, interrupted at one site and continued at the other one from the bucket alone."""

import os
import re
import signal
import subprocess
import sys

from tests.unit.checkpoints_of_jobs.conftest import ROOT, Hub, Training
from tests.unit.test_digits_training import losses

DIGITS = ROOT / "examples/digits"


def start(hub: Hub, site: str, restarts: int, *options: str, library: bool = True) -> Training:
    """Start the job in a folder of the site."""
    folder, log = hub.folder / site, hub.folder / f"{site}-{restarts}.log"
    folder.mkdir(exist_ok=True)
    environ = {"PATH": os.environ["PATH"], "JAX_PLATFORMS": "cpu", "LANDBRIDGE_SITE": site, **hub.environ(restarts)}
    if library:
        environ["PYTHONPATH"] = str(ROOT / "examples/checkpoints")
    command = [sys.executable, str(DIGITS / "train.py"), "--checkpoint-every", "2", *options]
    with log.open("wb") as stream:
        process = subprocess.Popen(command, cwd=folder, env=environ, stdout=stream, stderr=subprocess.STDOUT)
    hub.trainings.append(Training(process, log))
    return hub.trainings[-1]


def resumed(training: Training) -> int:
    """Return the epoch after which a process has resumed, and check that it came from the bucket."""
    assert "from the bucket" in training.text(), training.text()
    return int(re.findall(r"resuming after epoch (\d+)", training.text())[0])


def sent(training: Training) -> int:
    """Return the last epoch whose checkpoint was in the bucket."""
    return max(int(step) for step in re.findall(r"checkpoint (\d{12})-\S+ is in s3://", training.text()))


def test_digits_killed_onprem_stopped_in_aws_and_finished_onprem(hub: Hub) -> None:
    first = start(hub, "onprem", 0, "--epochs", "8", "--seconds-per-epoch-floor", "1")
    first.wait_for("is in s3://")
    first.kill()
    # A notice of the end of a spot instance: SIGTERM during an epoch.
    second = start(hub, "aws", 1, "--epochs", "8", "--seconds-per-epoch-floor", "600")
    second.wait_for("resuming after epoch")
    second.process.send_signal(signal.SIGTERM)
    assert second.process.wait(120) == 143, second.text()
    third = start(hub, "onprem", 2, "--epochs", "8")
    third.finished()
    whole = start(hub, "elsewhere", 0, "--epochs", "8", "--checkpoint-url", "").finished()
    assert resumed(second) >= sent(first) and resumed(third) == sent(second) == max(losses(second.text()))
    combined = {**losses(first.text()), **losses(second.text()), **losses(third.text())}
    assert combined == losses(whole.text()) and sorted(combined) == list(range(1, 9))
    assert (
        hub.s3.list_objects_v2(Bucket="acme-internal-123456789012", Prefix="vision/acme-7/latest.json")["KeyCount"] == 1
    )


def test_digits_without_the_library_says_so(hub: Hub) -> None:
    text = "need the package landbridge_checkpoints"
    requested = start(hub, "requested", 0, "--checkpoint-url", "s3://acme-internal-123456789012/vision", library=False)
    assert requested.process.wait(120) == 1 and text in requested.text()
    # The prolog's variable alone stops no job.
    alone = start(hub, "alone", 0, "--epochs", "1", library=False).finished()
    assert text in alone.text() and "none are made" in alone.text()
