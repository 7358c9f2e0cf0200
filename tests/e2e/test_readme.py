"""README's steps to a first environment, followed to the letter: from a clone to a job in AWS, with real Ansible and Slurm.

The lab has hosts and networks of its own, so the cluster of the other tests stays.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from landbridge import yaml_text
from landbridge.environment import lock_path
from landbridge.environment.file.lock import read_lock
from sandbox.demo.bring_up import BringUp
from sandbox.demo.cluster import LabJob, job, wait_for
from sandbox.demo.full import instances
from sandbox.demo.report import DemoReport
from sandbox.demo.training import EXAMPLE, Researcher
from sandbox.nspawn import cleanup, from_environment
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import Layout, layout
from sandbox.nspawn.machine import image, image_builder, nodes
from sandbox.ports import free_port
from sandbox.session import command_variables, end_cloud, ensure_cloud
from tests.graph.support.readme import ROOT, Newcomer, action_table
from tests.graph.support.readme_values import ANSWERS, EDITS, REMOVED, Edits

pytestmark = [
    pytest.mark.lab,
    pytest.mark.engine,
    pytest.mark.signing_helper,
    pytest.mark.long,
    pytest.mark.timeout(5400),
]
NAME, USER = "landbridge-test-readme", "carol"
#: Settings of the sandbox's file that a lab needs: hosts are containers with Debian, without GPUs and kernel modules.
OF_A_LAB = (
    ("aws", "node_checks"),
    ("onprem", "driver"),
    ("link", "datapath"),
    ("hosts",),
    ("containers",),
    ("scheduler", "slurm"),
    ("scheduler", "auth"),
    ("scheduler", "cgroup"),
    ("scheduler", "overrides"),
    ("suppress",),
)
#: Job that holds the on-prem nodes until the file exists.
HOLD = "until [ -e ~/free ]; do sleep 0.5; done"


def lab_edits(lab: Layout) -> Edits:
    """Return the values of step 2 for hosts of the lab and the emulated AWS."""
    sandbox = yaml_text.load((ROOT / "stacks" / "Pulumi.sandbox.yaml").read_text())["config"]["landbridge:environment"]
    copied: dict[tuple[str, ...], Any] = {}
    for path in OF_A_LAB:
        value = sandbox
        for key in path:
            value = value[key]
        copied[path] = value
    # The lab's repository has Debian's packages of this release for every host and for the image.
    copied[("scheduler", "slurm")] = {**copied[("scheduler", "slurm")], "packages_release": "forky"}
    copied[("onprem", "packages")] = {"python_find_links": "http://10.30.0.254:3143/"}
    return {
        **EDITS,
        **copied,
        ("onprem", "nodes"): [{"hosts": "dgx[01-02]", "platform": "dgx-h100", "address": "10.30.1.11"}],
        ("onprem", "access"): {
            "user": "root",
            "private_key": str(lab.private_key),
            "proxy_command": f"nsenter --net=/run/netns/{lab.netns} socat - TCP:%h:%p",
            "known_hosts": "/dev/null",
        },
        ("aws", "endpoints"): {
            "operator": f"http://127.0.0.1:{free_port()}",
            "onprem": "http://10.30.0.254:4580",
            "cloud": "http://10.70.0.254:4580",
        },
        # A container mounts no Lustre; Ganesha serves NFS without the kernel's server.
        ("storage", "cloud_scratch"): REMOVED,
        ("storage", "home"): {"kind": "nfs", "export": "/export/home", "server": "ganesha", "on_cloud_nodes": False},
    }


@pytest.fixture(scope="module")
def lab() -> Iterator[Layout]:
    with pytest.MonkeyPatch.context() as patch:
        # The emulated AWS boots its instances in this lab.
        patch.setenv("LANDBRIDGE_LAB", NAME)
        chosen = layout(NAME)
        cleanup.down(chosen)
        yield chosen
        end_cloud(chosen)
        cleanup.down(chosen)


def configure(newcomer: Newcomer, command: str) -> None:
    """Run it twice, as README says: the second run changes no host."""
    newcomer.shell(command)
    output = newcomer.shell(command)
    rows = re.findall(r"^(\S+) +(\d+) +(\d+) +(\d+) +(\d+)", output, re.MULTILINE)
    assert len(rows) == 8 and all(row[2:] == ("0", "0", "0") for row in rows), output


def test_a_newcomer_comes_from_a_clone_to_a_job_in_aws(lab: Layout, tmp_path: Path) -> None:
    state = tmp_path / "state"
    jobs: list[LabJob] = []

    def sbatch(newcomer: Newcomer, command: str) -> None:
        jobs.extend(submitted_twice(deployment, command))

    actions = {**action_table(), "landbridge configure -s acme": configure}
    actions["sbatch examples/digits/digits.sbatch"] = sbatch
    variables = {**os.environ, "XDG_STATE_HOME": str(state)}
    accepted = frozenset({"gateway-example-address"})
    newcomer = Newcomer(tmp_path / "landbridge", variables, actions, ANSWERS, lab_edits(lab), accepted)
    newcomer.clone()
    newcomer.follow(1, 4)
    # The account and the network that a newcomer has.
    whole.prepare(lab, from_environment.site_of(newcomer.environment))
    cloud = ensure_cloud(lab, newcomer.environment)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(state))
        newcomer.variables = {**command_variables(cloud, "acme"), "AWS_PROFILE": "default"}
        newcomer.follow(5, 7)
        deployment = BringUp(newcomer.file, DemoReport("README's cluster"), lab)
        deployment.machines()
        newcomer.follow(8, 9)
        deployment.far_side()
        deployment.tunnel()
        lock, _ = read_lock(lock_path(newcomer.file))
        assert lock is not None
        image_builder.build(lab, newcomer.environment, lock.images["node"].ami)
        try:
            newcomer.follow(10, 10)
            assert [sorted(ended.nodes) for ended in jobs] == [["dgx01", "dgx02"], ["p5-1", "p5-2"]]
            user = Researcher(deployment.cluster, deployment.environment, USER)
            runs = [user.run_of(ended.id) for ended in jobs]
            assert [run.tags["landbridge.site"] for run in runs] == ["onprem", "aws"]
        finally:
            image.remove(lab, lock.images["node"].ami)


def submitted_twice(deployment: BringUp, command: str) -> list[LabJob]:
    """Submit README's command while on-prem nodes are free, and while another job holds all of them; return both ended."""
    cluster, home = deployment.cluster, f"/home/{USER}"
    for path in sorted(EXAMPLE.iterdir()):
        if path.is_file():
            cluster.put("login01", f"{home}/examples/digits/{path.name}", path.read_bytes(), USER)

    def submit(words: str) -> int:
        output = cluster.run("login01", "bash", "-lc", words, user=USER)
        return int(output.split()[-1])

    def wait(number: int, event: str, states: tuple[str, ...]) -> LabJob:
        return wait_for(event, lambda: job(cluster, "ctl01", number), lambda seen: seen.state in states)

    ended = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL")
    first = wait(submit(command), "the first job to end", ended)
    holder = submit(f"sbatch -p onprem --nodes=2 --gpus-per-node=8 --output=/dev/null --wrap '{HOLD}'")
    wait(holder, "the holder to run", ("RUNNING",))
    second = wait(submit(command), "the second job to end", ended)
    cluster.run("login01", "touch", f"{home}/free", user=USER)
    if (first.state, second.state) != ("COMPLETED", "COMPLETED"):
        print(outputs(deployment))
    assert (first.state, second.state) == ("COMPLETED", "COMPLETED"), (first, second)
    return [first, second]


def outputs(deployment: BringUp) -> str:
    """Return the jobs' outputs: homes of AWS nodes are their own."""
    hosts = ["login01", *instances(deployment)]
    script = f"tail -n 400 /home/{USER}/digits-*.out"
    return "\n".join(nodes.exec(deployment.lab, host, [script]).stdout for host in hosts)
