"""Stand-ins of NVIDIA's packages, read as apt reads them, without a lab."""

import io
import re
import subprocess
import tarfile
from pathlib import Path

import pytest

from sandbox.hardware.packages.deb import Package
from sandbox.hardware.packages.repository import index, release
from sandbox.hardware.packages.rows import suites
from sandbox.nspawn.host.host_packages import find_program

SUITES = suites()


def test_a_package_is_the_same_bytes_each_time_and_an_archive_that_can_be_read() -> None:
    package = Package("a", "1:2.0-1", {"Depends": "b (>= 1)"}, {"/usr/bin/tool": "#!/bin/sh\n", "/etc/a.conf": "x\n"})
    archive = package.archive()
    assert archive == package.archive()
    assert package.file_name == "a_2.0-1_all.deb"
    # ar: a header of 60 bytes before every member.
    assert archive.startswith(b"!<arch>\ndebian-binary")
    start = archive.index(b"data.tar")
    size = int(archive[start + 48 : start + 58])
    with tarfile.open(fileobj=io.BytesIO(archive[start + 60 : start + 60 + size])) as data:
        modes = {member.name: member.mode for member in data if member.isfile()}
    assert modes == {"./usr/bin/tool": 0o755, "./etc/a.conf": 0o644}


@pytest.mark.skipif(find_program("dpkg-deb") is None, reason="needs dpkg")
def test_dpkg_reads_every_package(tmp_path: Path) -> None:
    package = next(candidate for candidate in SUITES["debian13"] if candidate.name == "nvidia-fabricmanager")
    path = tmp_path / package.file_name
    path.write_bytes(package.archive())
    shown = subprocess.run(["dpkg-deb", "--field", path], capture_output=True, text=True, check=True).stdout
    assert "Version: 580.95.05-1" in shown
    listed = subprocess.run(["dpkg-deb", "--contents", path], capture_output=True, text=True, check=True).stdout
    assert "./usr/lib/systemd/system/nvidia-fabricmanager.service" in listed


@pytest.mark.parametrize("suite", sorted(SUITES))
def test_no_package_is_listed_twice_and_every_dependency_exists(suite: str) -> None:
    packages = SUITES[suite]
    names = [(package.name, package.version) for package in packages]
    assert len(names) == len(set(names))
    known = {package.name for package in packages}
    for package in packages:
        known |= {word.strip() for word in package.fields.get("Provides", "").split(",")}
    # Dependencies from the system's archive instead of the flat suite.
    system = {"rdma-core", "ibverbs-utils", "dkms", "linux-image-6.14.0-1011-aws"}
    for package in packages:
        for group in filter(None, package.fields.get("Depends", "").split(", ")):
            names_of_group = {re.split(r"[ (]", word.strip())[0] for word in group.split("|")}
            assert names_of_group & (known | system), f"{package.name} {package.version}: {group}"


def test_the_meta_package_does_not_pin_the_driver_version() -> None:
    for suite, driver in (("debian13", "nvidia-driver (>= 580.95.05)"), ("ubuntu2404", "nvidia-driver-580-open (>=")):
        package = next(
            candidate
            for candidate in SUITES[suite]
            if candidate.name == "nvidia-open" and candidate.version.startswith("580.95.05")
        )
        assert driver in package.fields["Depends"]


def test_the_index_lists_file_names_and_sizes() -> None:
    package = Package("a", "1.0")
    archive = package.archive()
    text = index([(package, archive)])
    assert f"Size: {len(archive)}\n" in text and "Filename: ./a_1.0_all.deb\n" in text
    assert " Packages.gz\n" in release("debian13", text.encode(), b"")
