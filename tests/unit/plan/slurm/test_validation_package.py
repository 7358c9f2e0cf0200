"""Package of the acceptance ladder's programs: what its build needs, and refused systems. The build itself needs gigabytes
of CUDA's compiler, and longer than a test may take.
"""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from landbridge.catalog import slurm_sources
from landbridge.catalog.hardware.validation import validation_sources
from landbridge.realise.slurm_packages import PackageBuild, PackagesError, build_validation
from landbridge.realise.slurm_packages.validation import validation_command
from tests.unit.core.samples import ROOT

SCRIPT = ROOT / "landbridge/realise/slurm_packages/validation.sh"


def test_the_build_has_the_compiler_of_the_systems_archive(tmp_path: Path) -> None:
    request = PackageBuild("2.19.6", "debian-13", "amd64", {"debian": "http://mirror.example.org/debian"})
    words = validation_command(request, tmp_path / "v2.19.6.tar.gz", tmp_path / "out")
    assert words[-3:] == ["trixie", "/dev/null", "deb http://mirror.example.org/debian trixie main contrib non-free"]
    (included,) = (word for word in words if word.startswith("--include="))
    assert {"nvidia-cuda-toolkit", "libnccl-dev", "libmpich-dev", "apt-utils"} <= set(included[10:].split(","))
    (inside,) = (word for word in words if "validation.sh /build/v2.19.6.tar.gz" in word)
    assert "landbridge-validation 2.19.6 /opt/landbridge/tests" in inside and inside.endswith("'fio, hpcc'")


@pytest.mark.parametrize(
    ("system", "architecture", "message"),
    [
        ("debian-12", "amd64", "the archive of debian-12 has no CUDA compiler with NCCL"),
        ("ubuntu-24.04", "arm64", "no CUDA compiler for arm64"),
    ],
)
def test_a_system_without_a_compiler_is_refused_before_a_download(
    tmp_path: Path, system: str, architecture: str, message: str
) -> None:
    keyrings = {"debian": __file__, "ubuntu": __file__}
    request = PackageBuild("2.19.6", system, architecture, keyrings=keyrings)
    with pytest.raises(PackagesError, match=message) as refused:
        build_validation(request, tmp_path / "out", tmp_path / "state", print)
    assert refused.value.fix.startswith("use ") and not list(tmp_path.iterdir())


def test_an_archive_with_another_checksum_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "v2.19.6.tar.gz"
    archive.write_bytes(b"other")
    request = PackageBuild("2.19.6", "debian-13", "amd64", keyrings={"debian": __file__}, source=archive)
    with pytest.raises(PackagesError, match="wrong checksum"):
        build_validation(request, tmp_path / "out", tmp_path / "state", print)


def test_the_role_and_the_package_have_one_release_and_one_folder() -> None:
    defaults = yaml.safe_load((ROOT / "ansible/roles/nccl_tests/defaults/main.yml").read_text())
    sources = validation_sources()
    assert defaults["nccl_tests_sources"]["nccl_tests"]["version"] == f"v{sources.archive.release}"
    assert defaults["nccl_tests_prefix"] == sources.prefix and sources.archive.release in sources.archive.address
    assert re.fullmatch(r"[0-9a-f]{64}", sources.archive.sha256)
    assert set(sources.systems) <= set(slurm_sources().systems)


def test_the_script_is_valid_shell() -> None:
    subprocess.run(["sh", "-n", SCRIPT], check=True)
