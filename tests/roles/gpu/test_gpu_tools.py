"""MIG, DCGM, devices of containers and RDMA on a real node; tests named after complaints of users of other kits."""

import json
from collections.abc import Iterator

import pytest

from landbridge.plan.roles.nodes.dcgm_exporter import counters
from sandbox.demo.cluster import wait_for
from sandbox.hardware.packages.repository import publish
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from sandbox.nspawn.machine.reboot import reboot
from tests.roles.gpu.gpu_tools_lab import DCGM, NAME, OPERATOR, RDMA, SITE, SLURM, TOOLKIT, TOOLS, Bench

pytestmark = [pytest.mark.lab]

#: Prints the devices that a process may open. Without a driver a permitted open fails too, but with another error.
OPEN = (
    "for f in /dev/nvidia[0-9] /run/landbridge/mig/*/*/?i; do head -c1 $f 2>&1 | grep -q Operation || echo $f; done; "
    "echo $CUDA_VISIBLE_DEVICES"
)
DOCKER = '{"log-driver": "journald", "default-runtime": "nvidia"}'
STATISTICS = "/var/log/landbridge/gpu-jobs"


AUTH_SLURM = pytest.param(("26.05", "slurm"), marks=pytest.mark.long)


@pytest.fixture(scope="module", params=[("24.11", "munge"), AUTH_SLURM], ids=["munge", "slurm"])
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    lab = layout(NAME)
    cleanup.down(lab)
    try:
        whole.up(lab, SITE)
        started = Bench(lab, tmp_path_factory.mktemp("gpus"), publish(lab), *request.param)
        # Remains of an older kit: DCGM 3, and Docker's default runtime.
        old = f"{started.packages.address(OPERATOR, 'debian13')}datacenter-gpu-manager_3.3.9_all.deb"
        fetch = f'python3 -c "import urllib.request as r; r.urlretrieve(\\"{old}\\", \\"/tmp/old.deb\\")"'
        started.run(
            f"{fetch} && dpkg -i /tmp/old.deb && mkdir -p /etc/docker && echo '{DOCKER}' > /etc/docker/daemon.json"
        )
        yield started
    finally:
        cleanup.down(lab)


@pytest.fixture(scope="module")
def converged(bench: Bench) -> Bench:
    bench.converge(TOOLS, "--check", "--diff").good()
    assert "mig" not in bench.run("ls /etc/landbridge 2>/dev/null || true"), "a check changes nothing"
    bench.converge(TOOLS + SLURM).good()
    bench.idle()
    return bench


def uuids(bench: Bench) -> dict[str, str]:
    """Return the UUIDs of MIG instances by the folder of their links."""
    parts = json.loads(bench.run("cat /run/landbridge/mig.json"))["parts"]
    return {f"/run/landbridge/mig/{part['gpu']}/{part['number']}": part["uuid"] for part in parts}


def test_a_second_run_changes_nothing(converged: Bench) -> None:
    assert converged.converge(TOOLS, "--diff").good().changed == {"dgx01": 0}


def test_deepops_894_a_job_has_its_mig_instance_and_no_other(converged: Bench) -> None:
    known = uuids(converged)
    *files, visible = converged.job("gpu:h100_1g.10gb:1", OPEN).splitlines()
    assert files == ["/dev/nvidia6", "/run/landbridge/mig/6/0/ci", "/run/landbridge/mig/6/0/gi"]
    assert visible == known["/run/landbridge/mig/6/0"]
    *files, visible = converged.job("gpu:h100_3g.40gb:3", OPEN).splitlines()
    assert files[:2] == ["/dev/nvidia6", "/dev/nvidia7"]
    folders = ["/run/landbridge/mig/6/4", "/run/landbridge/mig/7/0", "/run/landbridge/mig/7/1"]
    assert files[2:] == [f"{folder}/{kind}" for folder in folders for kind in ("ci", "gi")]
    assert visible.split(",") == [known[folder] for folder in folders]
    converged.idle()


def test_a_job_on_whole_gpus_leaves_a_file_of_dcgms_statistics(converged: Bench) -> None:
    lines = converged.job("gpu:h100:2", f"{OPEN}; echo $SLURM_JOB_ID").splitlines()
    assert lines[:3] == ["/dev/nvidia0", "/dev/nvidia1", "0,1"]
    converged.idle()
    (name,) = converged.run(f"ls {STATISTICS}").split()
    assert name == f"{lines[3]}.txt", "jobs on MIG instances have none"
    statistics = converged.run(f"cat {STATISTICS}/{name}")
    assert "| GPU ID: 0 " in statistics and "| GPU ID: 1 " in statistics and "| GPU ID: 2 " not in statistics
    state = json.loads(converged.run("cat /run/lab-dcgm.json"))
    assert state["groups"] == state["jobs"] == {}, "DCGM keeps nothing of the job"


def test_without_its_host_engine_a_job_has_no_statistics_and_runs(converged: Bench) -> None:
    converged.run("systemctl stop nvidia-dcgm")
    assert converged.job("gpu:h100:1", "echo ran") == "ran"
    converged.idle()
    assert "no statistics: " in converged.run("journalctl -t landbridge-job -o cat")
    converged.run("systemctl start nvidia-dcgm")


def test_deepops_944_a_running_job_keeps_its_mig_instance_after_a_change_of_the_plan(converged: Bench) -> None:
    original = converged.run("cat /etc/landbridge/mig.json")
    before = converged.run("/opt/landbridge/bin/landbridge-mig show")
    number = converged.run(
        "cd /tmp && sbatch --parsable -o /dev/null -p mig --mem=100 --gres=gpu:h100_3g.40gb:1 --wrap 'sleep 300'",
        "ctl01",
    )
    wait_for(
        "the job to run",
        lambda: converged.run(f"squeue -h -j {number} -o %T", "ctl01"),
        lambda state: state == "RUNNING",
        details=converged.describe,
    )
    other = json.loads(original) | {"layout": {"7": ["7g.80gb:0"]}}
    converged.run(f"echo '{json.dumps(other)}' > /etc/landbridge/mig.json")
    code, message = converged.code("/opt/landbridge/bin/landbridge-mig apply")
    assert code == 3 and f"job {number} runs here: drain the node first" in message
    assert converged.run("/opt/landbridge/bin/landbridge-mig show") == before
    converged.run(f"scancel {number}", "ctl01")
    converged.idle()
    # Without the job, services that hold GPUs are stopped meanwhile, and the GPUs' descriptions are written again.
    engine = converged.run("systemctl show -P MainPID nvidia-dcgm")
    assert json.loads(converged.run("/opt/landbridge/bin/landbridge-mig apply"))["changed"]
    assert json.loads(converged.run("/opt/landbridge/bin/landbridge-mig show")) == {"7": ["7g.80gb:0"]}
    assert converged.run("systemctl show -P MainPID nvidia-dcgm") not in (engine, "0")
    assert devices(converged) == {*map(str, range(8)), "7:0"}
    converged.run(f"cat > /etc/landbridge/mig.json <<'END'\n{original}\nEND\n")
    converged.run("/opt/landbridge/bin/landbridge-mig apply")
    assert converged.run("/opt/landbridge/bin/landbridge-mig show") == before


def devices(bench: Bench) -> set[str]:
    """Return the devices that containers can request."""
    active = "systemctl list-units --state=active,activating -q nvidia-cdi-refresh.service"
    wait_for("nvidia-cdi-refresh to end", lambda: bench.run(active), lambda units: "nvidia-cdi-refresh" not in units)
    return {device["name"] for device in json.loads(bench.run("cat /run/cdi/nvidia.yaml"))["devices"]}


def test_deepops_1225_mig_instances_exist_after_a_reboot_before_slurmd_starts(converged: Bench) -> None:
    before = converged.run("/opt/landbridge/bin/landbridge-mig show")
    reboot(converged.lab, "dgx01")
    # slurmd waits for the MIG instances; Slurm may not have noticed the restart.
    wait_for(
        "slurmd to be active",
        lambda: converged.code("systemctl is-active slurmd"),
        lambda answer: answer[0] == 0,
        details=lambda: converged.code("systemctl status slurmd landbridge-mig --no-pager")[1],
    )
    converged.idle()
    assert converged.run("/opt/landbridge/bin/landbridge-mig show") == before
    converged.run("scontrol update nodename=dgx01 state=resume || true", "ctl01")
    assert converged.job("gpu:h100_1g.10gb:4", "echo ran") == "ran"


def test_there_is_one_dcgm_of_the_pinned_version_and_one_host_engine(converged: Bench) -> None:
    installed = converged.run(
        "dpkg-query -W -f '${Package} ${Version} ${db:Status-Abbrev}\\n' 'datacenter*'"
    ).splitlines()
    assert sorted(line.split()[0] for line in installed if line.split()[-1] == "ii") == [
        "datacenter-gpu-manager-4-core",
        "datacenter-gpu-manager-4-cuda13",
        "datacenter-gpu-manager-4-proprietary",
        "datacenter-gpu-manager-4-proprietary-cuda13",
    ]
    assert {line.split()[1] for line in installed if line.split()[-1] == "ii"} == {DCGM}, (
        "the newer one exists and is not installed"
    )
    assert converged.run("pgrep -c -x nv-hostengine") == "1"
    assert "l=NVIDIA CUDA" in converged.run("cat /etc/apt/preferences.d/nvidia-dcgm"), (
        "the driver's packages are refused"
    )


def test_gpu_metrics_are_those_of_the_contract_from_the_series_before_the_new_names(converged: Bench) -> None:
    settings = {"dcgm_exporter_listen": "127.0.0.1:9400", "dcgm_exporter_counters": counters()}
    role = {"role": "dcgm_exporter", "vars": settings}
    playbook = json.dumps([{"hosts": "dgx01", "gather_facts": False, "roles": [role]}])
    converged.converge(playbook, "--check").good()
    assert converged.code("dpkg-query -W datacenter-gpu-manager-exporter")[0] != 0, "a check changes nothing"
    converged.converge(playbook).good()
    assert converged.run("dpkg-query -W -f '${Version}' datacenter-gpu-manager-exporter") == "4.8.3-1"
    process = converged.run("systemctl show --property ExecStart nvidia-dcgm-exporter")
    assert "landbridge.csv" in process and "--remote-hostengine-info localhost:5555" in process
    assert converged.run("systemctl is-active nvidia-dcgm-exporter") == "active"
    for end in ("systemctl stop nvidia-dcgm; systemctl start nvidia-dcgm", "systemctl kill -s KILL nvidia-dcgm"):
        before = converged.run("systemctl show -P MainPID nvidia-dcgm-exporter")
        converged.run(end)
        wait_for(
            "the exporter to follow DCGM",
            lambda: converged.run("systemctl show -P MainPID nvidia-dcgm-exporter"),
            lambda pid, before=before: pid not in (before, "0"),
            details=converged.describe,
        )
    rows = [line.split(", ") for line in converged.run("grep -v '^#' /etc/dcgm-exporter/landbridge.csv").splitlines()]
    assert [row[0] for row in rows] == [row["field"] for row in counters()] and {len(row) for row in rows} == {3}
    assert converged.run("pgrep -c -x nv-hostengine") == "1"
    assert converged.converge(playbook).good().changed == {"dgx01": 0}


def test_containers_can_request_gpus_and_get_none_by_default(converged: Bench) -> None:
    assert json.loads(converged.run("cat /etc/docker/daemon.json")) == {
        "log-driver": "journald",
        "features": {"cdi": True},
    }
    assert converged.run("dpkg-query -W -f '${Version}' nvidia-container-toolkit-base") == TOOLKIT
    assert converged.code("dpkg-query -W nvidia-container-toolkit libnvidia-container-tools")[0] != 0, "no runtime"
    assert {"0", "6", "6:4", "7:1"} <= devices(converged)


def test_deepops_1300_a_missing_module_fails_only_if_it_is_required_and_names_the_remedy(
    converged: Bench,
) -> None:
    module_list = converged.run("cat /etc/modules-load.d/landbridge-rdma.conf")
    assert module_list == "# GPU memory on the network: none", "the driver here supports neither"
    refused = converged.converge(RDMA, "-e", "rdma_gpu_memory=peermem")
    assert refused.code != 0
    assert (
        "The kernel module nvidia_peermem does not exist" in refused.one_line
        and "set rdma_gpu_memory to dma_buf" in refused.one_line
    )
    for folder in ("bin", "sbin"):
        program = f"/usr/local/{folder}/modinfo"
        converged.run(f"printf '#!/bin/sh\\necho Dual MIT/GPL\\n' > {program} && chmod 755 {program}")
    converged.converge(RDMA).good()
    assert converged.run("cat /etc/modules-load.d/landbridge-rdma.conf").endswith(" dma_buf")
    assert "doca-ofed" in converged.run("dpkg-query -W doca-ofed")
    held = converged.run("apt-mark showhold").split()
    assert {"doca-ofed", "mlnx-ofed-kernel-dkms"} <= set(held), "an upgrade of all packages leaves modules and kernel"
