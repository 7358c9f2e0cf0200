"""Roles of GPU nodes in image mode: no GPU, no restart, no service runs; and beside package sources of the host's owner."""

from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.hardware.packages.repository import publish
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from tests.roles.gpu.image_lab import KERNEL, NAME, OPERATOR, SITE, UBUNTU, Builder, planned, role

pytestmark = [pytest.mark.lab]

RELEASE = "580.159.04"


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Builder]:
    lab = layout(NAME)
    cleanup.down(lab)
    try:
        whole.up(lab, SITE)
        started = Builder(lab, tmp_path_factory.mktemp("image"), publish(lab))
        started.run("ubuntu", f"rm /etc/os-release && cat > /etc/os-release <<'END'\n{UBUNTU}END")
        kernels = started.packages.address(OPERATOR, "kernels")
        started.run("ubuntu", f"echo 'deb [trusted=yes] {kernels} ./' > /etc/apt/sources.list.d/kernels.list")
        started.run("ubuntu", "apt-get -qq update && apt-get -qq install linux-image-aws >/dev/null 2>&1")
        yield started
    finally:
        cleanup.down(lab)


@pytest.fixture(scope="module")
def variables(builder: Builder) -> dict[str, Any]:
    # As for an image of p6-b200, which has NVLink 5.
    nvlink5 = {"nvidia_fabric_subnet_manager": True, "nvidia_driver_beside": ["subnet_manager"]}
    return {**planned("ubuntu-24.04-x86_64"), **nvlink5, **builder.mirrors("ubuntu2404")}


@pytest.fixture(scope="module")
def boot(builder: Builder) -> str:
    return builder.run("ubuntu", "systemctl show -P UserspaceTimestamp")


@pytest.fixture(scope="module")
def built(builder: Builder, variables: dict[str, Any], boot: str) -> Builder:
    builder.image("ubuntu", variables).good()
    return builder


def test_a_second_build_changes_nothing(built: Builder, variables: dict[str, Any]) -> None:
    assert built.image("ubuntu", variables, "--diff").good().changed == {"ubuntu": 0}


def test_the_image_has_ubuntus_packages_in_one_release(built: Builder) -> None:
    installed = built.installed("ubuntu")
    names = ["libnvidia-compute-580", "nvidia-dkms-580-open", "nvidia-fabricmanager", "libnvidia-nscq"]
    assert {installed[name].partition("-")[0] for name in names} == {RELEASE}
    for name in (
        "datacenter-gpu-manager-4-cuda13",
        "nvidia-container-toolkit-base",
        "libfabric1-aws",
        "libnccl-ofi",
        "efa",
        "gdrdrv-dkms",
        "libgdrapi",
    ):
        assert name in installed, name
    assert "nvidia-driver-cuda" not in installed, "Debian's name"


def test_the_subnet_manager_comes_with_the_program_that_finds_the_switches(built: Builder) -> None:
    assert {"nvlsm", "infiniband-diags"} <= set(built.installed("ubuntu"))
    # DOCA-OFED replaces it with its own build.
    assert "infiniband-diags" not in built.run("ubuntu", "apt-mark showhold").split()


def test_dkms_finds_the_headers_of_the_kernel_that_boots_and_the_kernel_is_held(built: Builder) -> None:
    installed = built.installed("ubuntu")
    assert {"linux-headers-aws", f"linux-headers-{KERNEL}"} <= set(installed)
    assert "linux-headers-generic" not in installed, "the host has another flavour"
    held = built.run("ubuntu", "apt-mark showhold").split()
    assert {"linux-image-aws", "linux-headers-aws", "nvidia-dkms-580-open", "nvidia-fabricmanager"} <= set(held)


def test_nothing_runs_and_the_host_was_not_restarted(built: Builder, boot: str) -> None:
    assert built.run("ubuntu", "systemctl show -P UserspaceTimestamp") == boot
    for unit in ("nvidia-fabricmanager", "nvidia-dcgm", "nvidia-cdi-refresh.path"):
        states = built.run("ubuntu", f"systemctl show -P UnitFileState -P ActiveState {unit}").split()
        assert sorted(states) == ["enabled", "inactive"], unit
    assert built.run("ubuntu", "cat /etc/modules-load.d/landbridge-gdrcopy.conf") == "gdrdrv"


def test_the_efa_installer_was_run_once_with_its_module_and_the_nccl_plugin(built: Builder) -> None:
    record = built.run("ubuntu", "cat /opt/amazon/efa_installed_packages")
    assert "# EFA installer version: 1.47.0" in record and "efa_3.0.0-1.amzn1_all" in record
    assert built.run("ubuntu", "ls /opt/amazon/ofi-nccl/lib") == "libnccl-net-ofi.so"
    assert left(built, "ubuntu") == [], "the archive is not left in the image"


def test_a_kernel_without_modules_is_refused_with_its_headers_name(built: Builder, variables: dict[str, Any]) -> None:
    built.run("ubuntu", "touch /boot/vmlinuz-6.17.0-1099-aws")
    try:
        failed = built.image("ubuntu", variables)
        assert failed.code != 0 and "linux-headers-6.17.0-1099-aws" in failed.one_line
    finally:
        built.run("ubuntu", "rm /boot/vmlinuz-6.17.0-1099-aws")


def test_a_changed_efa_archive_is_refused(builder: Builder) -> None:
    efa = {**builder.mirrors("debian13"), "efa_sha256": "0" * 64}
    failed = builder.converge("debian", [role("efa", efa_kernel_module=False)], efa)
    assert failed.code != 0 and "checksum" in failed.one_line
    assert builder.run("debian", "ls /opt/amazon 2>/dev/null || true") == ""


def test_debian_gets_efa_too_and_a_newer_release_stays(builder: Builder) -> None:
    sources = builder.mirrors("debian13")
    # A container has no kernel: the real installer refuses to build its module there.
    failed = builder.converge("debian", [role("efa")], sources)
    assert failed.code != 0 and "unable to detect installed kernels" in failed.one_line
    task = role("efa", efa_kernel_module=False, efa_limits=False)
    builder.converge("debian", [task], sources).good()
    assert builder.converge("debian", [task], sources).good().changed == {"debian": 0}
    installed = builder.installed("debian")
    assert "libnccl-ofi" in installed and "efa-config" not in installed and "efa" not in installed
    builder.run("debian", "sed -i 's/1.47.0/1.50.0/' /opt/amazon/efa_installed_packages")
    assert builder.converge("debian", [task], sources).good().changed == {"debian": 0}


def test_debian_has_no_gdrcopy(builder: Builder) -> None:
    failed = builder.converge("debian", [role("gdrcopy")], builder.mirrors("debian13"))
    assert failed.code != 0 and "no package of GDRCopy for Debian 13" in failed.one_line


def left(builder: Builder, host: str) -> list[str]:
    """Return the files in /var/tmp, except folders of running services, and those of builds in /var/cache."""
    command = "{ ls -A /var/tmp | grep -v ^systemd-private; ls -A /var/cache | grep -E 'landbridge|efa'; } || true"
    return builder.run(host, command).split()


OWNERS = """set -e
curl -sf {key} -o /usr/share/keyrings/owner.asc
echo 'deb [signed-by=/usr/share/keyrings/owner.asc] {toolkit} ./' > /etc/apt/sources.list.d/nvidia-container-toolkit.list
echo 'deb [signed-by=/usr/share/keyrings/owner.asc] {cuda} ./' > /etc/apt/sources.list.d/cuda.list
apt-get -qq update
"""


def test_deepops_owners_sources_stay_in_use_beside_ours(builder: Builder) -> None:
    sources = builder.mirrors("debian13")
    toolkit, cuda = sources["nvidia_container_toolkit_mirror"], sources["dcgm_mirror"]
    builder.run("debian", OWNERS.format(key=builder.packages.key_address(OPERATOR), toolkit=toolkit, cuda=cuda))
    packages = ["nvidia-container-toolkit-base", "libnvidia-container-tools"]
    tasks = [
        role("dcgm", dcgm_started=False),
        role(
            "nvidia_container_toolkit",
            nvidia_container_toolkit_packages=packages,
            nvidia_container_toolkit_started=False,
        ),
    ]
    builder.converge("debian", tasks, sources).good()
    assert builder.converge("debian", tasks, sources).good().changed == {"debian": 0}
    # apt read all sources: two keys for one repository are an error for it.
    assert "nvidia-container-toolkit.sources" not in builder.run("debian", "ls /etc/apt/sources.list.d")
    builder.run("debian", "apt-get -qq --error-on=any update")
    # The owner's driver stays installable from the owner's entry.
    policy = builder.run("debian", "apt-cache policy nvidia-fabricmanager | sed -n 's/.*Candidate: //p'")
    assert policy.startswith("590"), "not refused"
    assert {"libnvidia-container-tools", "datacenter-gpu-manager-4-core"} <= set(builder.installed("debian"))
    builder.run("debian", "rm /etc/apt/sources.list.d/cuda.list /etc/apt/sources.list.d/nvidia-container-toolkit.list")


MODINFO = "#!/bin/sh\ntest \"$*\" = '-F version -k 6.14.0-1011-aws nvidia' && echo 580.126.09\n"


def test_a_driver_of_the_parent_image_is_checked_and_kept(builder: Builder) -> None:
    task = role("nvidia_driver", nvidia_driver_provided=True, nvidia_driver_branch="", nvidia_driver_reboot="never")
    failed = builder.converge("debian", [task], {})
    assert failed.code != 0 and "has no module nvidia" in failed.one_line
    builder.run("debian", f"cat > /usr/local/sbin/modinfo <<'END'\n{MODINFO}END\nchmod +x /usr/local/sbin/modinfo")
    builder.run("debian", f"mkdir -p /boot && touch /boot/vmlinuz-{KERNEL}")
    before = builder.installed("debian")
    assert builder.converge("debian", [task], {}).good().changed == {"debian": 0}
    assert builder.installed("debian") == before, "nothing is installed beside the parent's driver"
    task["vars"]["nvidia_driver_branch"] = "595"
    failed = builder.converge("debian", [task], {})
    assert failed.code != 0 and "has driver 580.126.09, and branch 595 is expected" in failed.one_line


SOURCES = """set -e
apt-get -qq install --no-install-recommends git make >/dev/null 2>&1
mkdir -p /usr/local/cuda/bin && printf '#!/bin/sh\\n' > /usr/local/cuda/bin/nvcc && chmod +x /usr/local/cuda/bin/nvcc
printf '#!/bin/sh\\nprintf "all:\\\\n\\\\tprintf x > nvbandwidth\\\\n" > Makefile\\n' > /usr/local/bin/cmake && chmod +x /usr/local/bin/cmake
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
for name in nccl nvbandwidth; do
  git init -q /srv/$name && cd /srv/$name
  printf 'all:\\n\\tmkdir -p $(BUILDDIR)\\n\\tprintf "mpi $(MPI_HOME)" > $(BUILDDIR)/all_reduce_perf\\n' > Makefile
  git add . && git commit -qm one && git rev-parse HEAD
done
"""


def test_nccl_tests_are_built_once_from_one_commit(builder: Builder) -> None:
    nccl, nvbandwidth = builder.run("debian", SOURCES).splitlines()[-2:]
    sources = {
        "nccl_tests": {"address": "/srv/nccl", "version": "one", "commit": nccl},
        "nvbandwidth": {"address": "/srv/nvbandwidth", "version": "one", "commit": nvbandwidth},
    }
    common = {"nccl_tests_tools": ["git", "make"], "nccl_tests_mpi": "/opt/amazon/openmpi"}
    wrong = {**sources, "nccl_tests": {**sources["nccl_tests"], "commit": "0" * 40}}
    failed = builder.converge("debian", [role("nccl_tests", nccl_tests_sources=wrong, **common)], {})
    assert failed.code != 0 and "0000000000" in failed.one_line
    task = role("nccl_tests", nccl_tests_sources=sources, **common)
    builder.converge("debian", [task], {}).good()
    assert builder.converge("debian", [task], {}).good().changed == {"debian": 0}
    assert builder.run("debian", "cat /opt/landbridge/tests/bin/all_reduce_perf") == "mpi /opt/amazon/openmpi"
    assert builder.run("debian", "ls /opt/landbridge/tests/bin").split() == ["all_reduce_perf", "nvbandwidth"]
    assert left(builder, "debian") == []


def test_amazons_lustre_client_comes_with_its_key(builder: Builder) -> None:
    repository = builder.packages.address(OPERATOR, "fsx-lustre")
    source = {"uris": repository, "suites": "./", "key_url": f"{repository}fsx-ubuntu-public-key.asc"}
    task = role(
        "lustre_client",
        lustre_client_started=False,
        lustre_client_packages=["lustre-client-modules-aws", "lustre-client-utils"],
        lustre_client_repository=source,
    )
    builder.converge("ubuntu", [task], {}).good()
    assert builder.converge("ubuntu", [task], {}).good().changed == {"ubuntu": 0}
    assert f"lustre-client-modules-{KERNEL}" in builder.installed("ubuntu")
