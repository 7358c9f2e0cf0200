"""End-to-end test of the whole system: assertions on the cluster that the demonstration builds.

`make test` sets LANDBRIDGE_TESTS_KEEP_LAB=no if no lab existed before: then the last test removes the lab.
"""

import json
import os
import re
import shlex
import textwrap
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from landbridge.paths import outputs_file, secrets_dir
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.roles.hosts.roles_anywhere import roles_anywhere
from sandbox.demo.bring_up import BringUp
from sandbox.demo.cluster import LabJob, bgp_routes, wait_for
from sandbox.demo.full import clients, instances, train_on_both_sites
from sandbox.demo.report import DemoReport
from sandbox.demo.training import Researcher
from sandbox.demo.work import command, json_command, program
from sandbox.nspawn import cleanup
from sandbox.nspawn.host import processes
from sandbox.nspawn.network import bridges as network
from sandbox.nspawn.network import capture
from sandbox.nspawn.site import AWS_GATEWAY, INTERNET
from sandbox.session import ensure_cloud, running_cloud

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.lab, pytest.mark.engine]
#: Hosts whose services call AWS.
CERTIFIED = ("ctl01", "mlops01", "nfs01")


@dataclass(frozen=True)
class Shown:
    """The demonstration's two jobs, and the packets that crossed the internet bridge meanwhile."""

    first: LabJob
    second: LabJob
    seen: capture.PacketCapture
    report: DemoReport


@pytest.fixture(scope="module", autouse=True)
def as_it_was(deployment: BringUp) -> Iterator[None]:
    yield
    if running_cloud(deployment.lab) is not None:
        ensure_cloud(deployment.lab, deployment.environment).control(reset=True)


@pytest.fixture(scope="module")
def user(deployment: BringUp) -> Researcher:
    researcher = Researcher(deployment.cluster, deployment.environment, deployment.environment.users[0].name)
    researcher.bring_example()
    return researcher


@pytest.fixture(scope="module")
def shown(deployment: BringUp) -> Shown:
    report = DemoReport("jobs")
    with capture.capture(deployment.lab, INTERNET) as seen:
        first, second = train_on_both_sites(deployment, report)
    return Shown(first, second, seen, report)


def cloud_states(deployment: BringUp) -> dict[str, list[str]]:
    """Return Slurm's state flags of each AWS node."""
    nodes = deployment.cluster.json("ctl01", "scontrol", "show", "nodes", "--json")["nodes"]
    return {node["name"]: node["state"] for node in nodes if node["name"].startswith("p5-")}


def test_job_1_ran_on_prem_and_job_2_in_aws(shown: Shown) -> None:
    assert sorted(shown.first.nodes) == ["dgx01", "dgx02"]
    assert len(shown.second.nodes) == 2
    assert all(name.startswith("p5-") for name in shown.second.nodes)
    assert shown.second.started < shown.first.ended, "job 2 must run while job 1 uses the on-prem nodes"
    assert (shown.first.restarts, shown.second.restarts) == (0, 0)


def test_traffic_between_the_sites_is_only_in_the_tunnel(shown: Shown) -> None:
    assert shown.seen.dropped == 0
    assert shown.seen.packets["udp/4500 esp"] > 100
    allowed = {"udp/4500 esp", "udp/4500 ike", "udp/4500 keepalive", "udp/500", "arp"}
    others = {kind: count for kind, count in shown.seen.packets.items() if kind not in allowed}
    # A bridge port that comes up announces its own IPv6 link address; no other packet may leave the tunnel.
    assert set(others) <= {"ipv6"}, others


def test_bgp_carries_the_routes_both_ways(deployment: BringUp) -> None:
    environment = deployment.environment
    assert str(environment.aws.cidr) in bgp_routes(deployment.cluster, environment.onprem.services.gateways[0])
    assert str(environment.onprem.cidr) in bgp_routes(deployment.cluster, "awsgw")


def test_without_the_tunnel_nothing_would_leave_in_clear_text(deployment: BringUp) -> None:
    gateway, aws_cidr = deployment.environment.onprem.services.gateways[0], str(deployment.environment.aws.cidr)
    refused = json.loads(deployment.cluster.run(gateway, "ip", "-json", "route", "show", "type", "unreachable"))
    assert aws_cidr in {route["dst"] for route in refused}


def test_mlflow_has_both_runs_and_their_checkpoints_are_in_the_bucket(
    deployment: BringUp, user: Researcher, shown: Shown
) -> None:
    runs = [user.run_of(job.id) for job in (shown.first, shown.second)]
    assert [run.status for run in runs] == ["FINISHED", "FINISHED"]
    assert [run.tags["landbridge.site"] for run in runs] == ["onprem", "aws"]
    s3 = clients(deployment, "s3")
    for run in runs:
        assert run.params and run.metrics
        keys = [
            entry["Key"]
            for bucket in s3.list_buckets()["Buckets"]
            for entry in s3.list_objects_v2(Bucket=bucket["Name"]).get("Contents", [])
            if run.id in entry["Key"]
        ]
        assert any(key.endswith("manifest.json") for key in keys), keys


@pytest.mark.parametrize("partition", ["p5", "onprem"])
def test_the_documented_lines_of_a_script_find_its_first_node(
    deployment: BringUp, user: Researcher, partition: str
) -> None:
    snippet = (ROOT / "docs/how-to/submit-jobs.md").read_text().split("```bash\n")[1].split("```")[0]
    script = f"""#!/bin/bash
{textwrap.dedent(snippet)}
srun python3 -c '
import os, socket, time
address, first = (os.environ["MASTER_ADDR"], 29500), os.environ["SLURM_PROCID"] == "0"
if first:
    with socket.create_server(address) as server:
        server.settimeout(300)
        server.accept()
else:
    for _ in range(600):
        try:
            socket.create_connection(address, 5).close()
            break
        except OSError:
            time.sleep(0.5)
    else:
        raise SystemExit("no connection to the first process")
print("process", os.environ["SLURM_PROCID"], "met the other at", address[0])
print("checkpoints", os.environ["SLURM_PROCID"], os.environ.get("LANDBRIDGE_CHECKPOINT_URL", "-"))
'
scontrol getaddrs "$SLURM_JOB_NODELIST"
"""
    deployment.cluster.put(user.login, f"{user.folder}/first.sh", script.encode(), user.name)
    options = ("--partition", partition, "--nodes=2", "--ntasks-per-node=1", "--gpus-per-node=8", "--output=first.out")
    words = [
        "sh",
        "-c",
        f"cd {user.folder} && rm -f first.out; sbatch --wait {shlex.join(options)} first.sh; cat first.out",
    ]
    output = deployment.cluster.run(user.login, *words, user=user.name, timeout=900)
    first = re.search(r"^\S+: (\S+):\d+$", output, re.MULTILINE)
    assert first, output
    assert sorted(re.findall(r"process (\d) met the other at (\S+)", output)) == [("0", first[1]), ("1", first[1])]
    # Each task has the bucket of its account's data class; a node without certificates has no credentials for it.
    outputs = StackOutputs.model_validate_json(outputs_file(deployment.name).read_text())
    has_bucket = partition == "p5" or roles_anywhere(deployment.environment) is not None
    place = f"s3://{outputs.data_hub.buckets['internal'].name}/checkpoints" if has_bucket else "-"
    assert sorted(re.findall(r"checkpoints (\d) (\S+)", output)) == [("0", place), ("1", place)]


def test_idle_aws_nodes_are_terminated(deployment: BringUp, shown: Shown) -> None:
    wait_for("every instance to end", lambda: instances(deployment), lambda running: not running, every=1)
    cloud = cloud_states(deployment)
    assert cloud and not any("DOWN" in state for state in cloud.values()), cloud


@pytest.mark.signing_helper
def test_both_jobs_ran_with_certificates_and_without_access_keys(deployment: BringUp, shown: Shown) -> None:
    """The cluster was made by the steps of the README: credentials init, check, up, configure, sbatch."""
    assert shown.second.finished
    status = json_command([program("landbridge"), "credentials", "status", *deployment.file, "--format", "json"])
    assert {host["host"]: host["state"] for host in status["hosts"]} == dict.fromkeys(CERTIFIED, "valid")
    search = "grep -rls aws_secret_access_key /etc /root /home /srv /var/lib/landbridge || true"
    for host in (*CERTIFIED, "login01", "dgx01"):
        assert deployment.cluster.run(host, "sh", "-c", search) == "", host


def test_the_controller_resolves_names_of_nodes_that_are_not_started(deployment: BringUp) -> None:
    """Slurm resolves an unknown name ten times, one second apart, and holds slurmctld's locks meanwhile."""
    absent = sorted(cloud_states(deployment))
    assert absent
    for name in absent:
        assert "0.0.0.1" in deployment.cluster.run("ctl01", "getent", "ahostsv4", name), name
    deployment.cluster.run("ctl01", "scontrol", "getaddrs", ",".join(absent))


def test_a_second_up_and_a_second_configure_change_nothing(deployment: BringUp) -> None:
    output = command(
        [program("landbridge"), "up", *deployment.file, "--yes", "--format", "json"], env=deployment.variables()
    )
    changes = json.loads(output[output.index("{") :])["changes"]
    assert set(changes) == {"same"}, changes
    output = command(
        [program("landbridge"), "configure", *deployment.file, "--format", "json"],
        env=deployment.variables(),
        timeout=1200,
    )
    hosts = json.loads(output[output.index("{") :])["hosts"]
    assert len(hosts) == 8
    assert {name: host["changed"] for name, host in hosts.items() if host["changed"] or host["failed"]} == {}


def test_a_tunnel_cut_of_20_seconds_and_new_tunnel_keys_lose_no_job(deployment: BringUp, user: Researcher) -> None:
    number = user.train("cut", ["--epochs", "14", "--seconds-per-epoch-floor", "4"], ["--partition", "p5"])
    wait_for(
        "the job to run in AWS",
        lambda: (user.state(number), user.output(number)),
        lambda seen: "epoch" in seen[1],
        every=1,
    )
    port = network.interface("awsgw", 1)
    network.link_down(deployment.lab, port)
    time.sleep(20)
    network.link_up(deployment.lab, port)
    connected = time.monotonic()
    # TCP, IKE and BGP retransmit after their own timers, and MLflow's client waits two minutes for an answer.
    deployment.wait_for_tunnel()
    # A session that has received nothing since the cut ends after the hold time. The rotation does not begin without it.
    wait_for(
        "BGP messages both ways after the cut",
        lambda: sessions(deployment),
        lambda seen: all(
            state == "Established" and silent < time.monotonic() - connected for state, silent in seen.values()
        ),
        every=0.5,
    )
    rotate_tunnel_keys(deployment)
    ended = user.finish(number)
    assert ended.restarts == 0
    assert user.run_of(number).status == "FINISHED"


def sessions(deployment: BringUp) -> dict[str, tuple[str, float]]:
    """Return the BGP session of each end of the tunnel: its state, and the seconds since its last message."""
    (gateway,) = deployment.environment.onprem.services.gateways
    ends = {}
    for name in (gateway, AWS_GATEWAY):
        shown = deployment.cluster.json(name, "vtysh", "-c", "show bgp neighbors json").values()
        (neighbor,) = (entry for entry in shown if isinstance(entry, dict))
        # FRR counts whole seconds.
        ends[name] = (str(neighbor["bgpState"]), neighbor["bgpTimerLastRead"] / 1000 + 1)
    return ends


def rotate_tunnel_keys(deployment: BringUp) -> None:
    """Run the rotation playbook; AWS's end of the tunnel gets the new key while the playbook waits for the tunnel."""
    keys = secrets_dir(deployment.name) / "link_pre_shared_keys"
    old = json.loads(keys.read_text())
    words = [program("ansible-playbook"), "-i", str(deployment.path), "ansible/playbooks/rotate_tunnel_keys.yml"]
    (gateway,) = deployment.environment.onprem.services.gateways
    with ThreadPoolExecutor() as pool:
        rotation = pool.submit(
            command, [*words, "-e", "rotate_tunnel_alone=true"], env=deployment.variables(), cwd=ROOT, timeout=600
        )
        wait_for(
            "a new key of the first tunnel",
            lambda: (json.loads(keys.read_text())[0], rotation.done()),
            lambda seen: seen[0] != old[0] or seen[1],
        )
        deployment.far_side()
        output = rotation.result()
    new = json.loads(keys.read_text())
    assert len({*old, *new}) == 4 and not any(key in output for key in (*old, *new))
    shown = deployment.cluster.run(gateway, "cat", "/etc/swanctl/conf.d/site-gateway.conf")
    assert new[0] in shown and old[0] not in shown
    assert deployment.linked()


@pytest.mark.skipif(
    os.environ.get("LANDBRIDGE_TESTS_KEEP_LAB") != "no", reason="the lab existed before the tests: it is kept"
)
def test_down_leaves_nothing(deployment: BringUp) -> None:
    cloud = ensure_cloud(deployment.lab, deployment.environment)
    command([program("landbridge"), "sandbox", "down"], timeout=600)
    assert cleanup.leftovers(deployment.lab) == []
    # Not its entry in /proc: an ended child of this very process keeps one.
    assert processes.identify(cloud.pid) is None
