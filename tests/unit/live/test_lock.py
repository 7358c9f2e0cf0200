"""Image lock: resolved once, unchanged until an upgrade is requested, and never read in part."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.environment import ImageLock, LockedImage, load_environment, lock_path
from landbridge.environment.file.lock import read_lock
from landbridge.live.images import versions
from landbridge.plan.aws.pool import pool_args
from sandbox.aws_emulator.process import EmulatorProcess

from .conftest import Build, as_json, run

UBUNTU = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-22.04/latest/ami-id"
AL2023 = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-amazon-linux-2023/latest/ami-id"
IMAGES: dict[Any, Any] = {
    ("aws", "images"): {"ubuntu": {"parameter": UBUNTU}},
    ("aws", "pools", 0, "image"): "ubuntu",
    ("aws", "pools", 0, "root_device"): "/dev/sda1",
}


def lock_of(path: Path) -> ImageLock:
    lock, broken = read_lock(lock_path(path))
    assert lock is not None and not broken, broken
    return lock


def test_locked_once_and_kept(cloud: EmulatorProcess, build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    cloud.control(released={UBUNTU: 1, AL2023: 1})
    file = build(IMAGES).path
    status, out, _ = run(capsys, "lock", "--file", str(file))
    assert (status, "ubuntu: added" in out, "commit it" in out) == (0, True, True)
    first = lock_of(file).images["ubuntu"]
    assert (first.version, first.driver, first.cuda, first.efa) == (1, "580.82.07", "12.9", "1.43.2")
    assert (first.architecture, first.root_device, first.root_gib) == ("x86_64", "/dev/sda1", 35)
    text = lock_path(file).read_text()

    # AWS publishes the next image: the lock stays, and a new name alone is added.
    cloud.control(released={UBUNTU: 2})
    assert run(capsys, "lock", "--file", str(file))[0] == 0
    assert lock_path(file).read_text() == text
    build({**IMAGES, ("aws", "images", "al2023"): {"parameter": AL2023}})
    status, output = as_json(capsys, "lock", "--file", str(file))
    assert (status, output["written"]) == (0, True)
    assert {row["name"]: row["kind"] for row in output["images"]} == {"ubuntu": "kept", "al2023": "added"}
    assert lock_of(file).images["ubuntu"] == first

    # A name that is no longer used is removed from the lock.
    build(IMAGES)
    run(capsys, "lock", "--file", str(file))
    assert lock_path(file).read_text() == text


def test_upgrade_shows_the_difference_before_it_writes(
    cloud: EmulatorProcess, build: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    cloud.control(released={UBUNTU: 1})
    file = build(IMAGES).path
    run(capsys, "lock", "--file", str(file))
    before = lock_path(file).read_text()
    cloud.control(released={UBUNTU: 2})
    status, out, _ = run(capsys, "lock", "--file", str(file), "--upgrade", "--dry-run")
    assert status == 0 and lock_path(file).read_text() == before
    for line in ("580.82.07 -> 580.105.08", "12.9 -> 13.0", "1.43.2 -> 1.45.0", "1 -> 2"):
        assert line in out, out
    assert run(capsys, "lock", "--file", str(file), "--upgrade")[0] == 0
    assert lock_of(file).images["ubuntu"].driver == "580.105.08"
    upgraded = lock_path(file).read_text()
    _, out, _ = run(capsys, "lock", "--file", str(file), "--upgrade")
    assert "nothing has changed" in out and lock_path(file).read_text() == upgraded


def test_another_parameter_is_resolved_without_upgrade(build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    file = build(IMAGES).path
    run(capsys, "lock", "--file", str(file))
    first = lock_of(file).amis["ubuntu"]
    build({**IMAGES, ("aws", "images", "ubuntu", "parameter"): AL2023})
    run(capsys, "lock", "--file", str(file))
    assert lock_of(file).amis["ubuntu"] != first
    assert lock_of(file).images["ubuntu"].parameter == AL2023


def test_unknown_parameter_is_located_and_nothing_is_lost(build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    file = build(IMAGES).path
    run(capsys, "lock", "--file", str(file))
    text = lock_path(file).read_text()
    wrong = {
        **IMAGES,
        ("aws", "images", "typo"): {"parameter": "/aws/service/deeplearning/ami/x86_64/typo/latest/ami-id"},
    }
    build(wrong)
    status, output = as_json(capsys, "lock", "--file", str(file))
    assert status == 1 and lock_path(file).read_text() == text
    (finding,) = output["findings"]
    assert (finding["rule"], finding["path"]) == ("live-image-parameter", ["aws", "images", "typo", "parameter"])
    assert finding["line"] > 1


@pytest.mark.parametrize(("settings", "status", "message"), [
    ({"deny": ["ssm:GetParameters"]}, 2, "ssm:GetParameters"),
    ({"deny": ["ec2:DescribeImages"]}, 2, "ec2:DescribeImages"),
    ({"buckets": {"GetParameters": [0, 0]}}, 2, "throttles requests"),
])  # fmt: skip
def test_refusal_is_reported_and_writes_nothing(
    cloud: EmulatorProcess,
    build: Build,
    capsys: pytest.CaptureFixture[str],
    settings: dict[str, Any],
    status: int,
    message: str,
) -> None:
    file = build(IMAGES).path
    cloud.control(**settings)
    ended, _, errors = run(capsys, "lock", "--file", str(file))
    assert (ended, message in errors) == (status, True), errors
    assert not lock_path(file).exists()


def test_no_network_is_one_line(build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    file = build({**IMAGES, ("aws", "endpoints"): {"operator": "http://127.0.0.1:9"}}).path
    status, _, errors = run(capsys, "lock", "--file", str(file))
    assert status == 2 and "does not answer" in errors and "Traceback" not in errors


def test_plan_uses_the_locked_image(cloud: EmulatorProcess, build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    cloud.control(released={UBUNTU: 1})
    file = build(IMAGES).path
    run(capsys, "lock", "--file", str(file))
    loaded = load_environment(file)
    assert loaded.environment is not None and loaded.lock is not None, loaded.findings
    pool = loaded.environment.aws.pools[0]
    before = pool_args(loaded.environment, pool, loaded.lock.amis)
    assert before.image == loaded.lock.images["ubuntu"].ami
    cloud.control(released={UBUNTU: 2})
    reloaded = load_environment(file)
    assert reloaded.environment is not None and reloaded.lock is not None
    assert pool_args(reloaded.environment, reloaded.environment.aws.pools[0], reloaded.lock.amis) == before


@pytest.mark.parametrize(("text", "line", "message"), [
    ("ubuntu: [1, 2]\n", 1, "ubuntu"),
    ("ubuntu: {ami: ami-123}\n", 1, "ubuntu.ami"),
    ("- a\n", 1, "mapping"),
    ("ubuntu: {\n", 1, "YAML"),
    ("ubuntu:\n  ami: ami-0123456789abcdef0\n  parameter: /p\n  region: eu-west-1\n  architecture: x86_64\n"
     "  root_device: /dev/xvda\n  resolved: \"2026-11-21\"\n", 4, "eu-west-1"),
])  # fmt: skip
def test_broken_lock_is_located_and_repaired(
    build: Build, capsys: pytest.CaptureFixture[str], text: str, line: int, message: str
) -> None:
    file = build(IMAGES).path
    lock_path(file).write_text(text)
    loaded = load_environment(file)
    assert loaded.environment is None and loaded.partial is not None
    findings = [finding for finding in loaded.findings if finding.rule == "broken-lock"]
    assert findings and findings[0].file == str(lock_path(file)) and (findings[0].line or 0) >= line
    assert any(message in finding.message for finding in findings), findings
    assert run(capsys, "lock", "--file", str(file))[0] == 0
    assert load_environment(file).lock is not None


words = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=40)
images = st.builds(
    LockedImage,
    ami=st.from_regex(r"ami-[0-9a-f]{17}", fullmatch=True),
    parameter=words,
    version=st.none() | st.integers(1, 10_000),
    region=words,
    architecture=st.sampled_from(["x86_64", "arm64"]),
    root_device=words,
    root_gib=st.none() | st.integers(1, 1000),
    name=st.none() | words,
    created=st.none() | st.dates(),
    deprecated=st.none() | st.dates(),
    driver=st.none() | words,
    cuda=st.none() | st.sampled_from(["13.0", "12.9", "1e3", "yes", "null", "0x1f"]),
    efa=st.none() | words,
    resolved=st.dates(min_value=date(1000, 1, 1)),
)


@given(st.dictionaries(st.from_regex(r"[a-z]([a-z0-9-]{0,30}[a-z0-9])?", fullmatch=True), images, max_size=4))
def test_lock_reads_back_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, locked: dict[str, LockedImage]
) -> None:
    path = tmp_path_factory.getbasetemp() / "images.round.lock"
    path.write_text(ImageLock(locked).text("round"), encoding="utf-8")
    read_back, broken = read_lock(path)
    assert not broken and read_back is not None and dict(read_back.images) == locked


@pytest.mark.parametrize(("texts", "expected"), [
    (["Supported: G4dn, P5. NVIDIA driver 580.105.08, CUDA 13.0, EFA 1.45.0."],
     {"driver": "580.105.08", "cuda": "13.0", "efa": "1.45.0"}),
    (["Deep Learning Base OSS Nvidia Driver GPU AMI (Ubuntu 22.04) 20261102"], {}),
    (["EKS-optimized Kubernetes node based on Amazon Linux 2023, (k8s: 1.33.4, containerd: 2.1.*)"], {}),
    (["CUDA 12.8 with NVIDIA GPU driver version: 570.172.08"], {"driver": "570.172.08", "cuda": "12.8"}),
])  # fmt: skip
def test_versions_are_read_and_never_guessed(texts: list[str], expected: dict[str, str]) -> None:
    assert versions(texts, {}) == expected
    assert versions(texts, {"landbridge:driver": "999.1"})["driver"] == "999.1"
