"""The lab on this machine: a separate lab beside any that is in use."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

import pytest

from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.errors import LabError
from sandbox.nspawn.host import package_cache as packages
from sandbox.nspawn.host import processes
from sandbox.nspawn.layout import Layout, layout
from sandbox.nspawn.machine import cloud_node, image, nodes
from sandbox.nspawn.machine.node import load
from sandbox.nspawn.machine.reboot import reboot
from sandbox.nspawn.network import bridges as network
from sandbox.nspawn.network import capture
from sandbox.nspawn.site import INTERNET, LabSite, Machine, operator_address, plan

pytestmark = [pytest.mark.lab]

NAME = "landbridge-test"
ONPREM, CLOUD = IPv4Network("10.30.0.0/16"), IPv4Network("10.70.0.0/16")
SITE = plan(
    ONPREM,
    CLOUD,
    IPv4Address("203.0.113.10"),
    (
        Machine("gw01", "10.30.0.1", gateway=True),
        Machine("dgx01", "10.30.1.1", gpus=2),
        Machine("nfs01", "10.30.0.14", storage=True),
    ),
)


def run(lab: Layout, node: str, command: str, timeout: float = 120) -> str:
    completed = nodes.exec(lab, node, [command], timeout=timeout)
    assert completed.returncode == 0, f"{node}: {command}: {completed.stderr}{completed.stdout}"
    return completed.stdout.strip()


@pytest.fixture(scope="module")
def lab() -> Iterator[Layout]:
    chosen = layout(NAME)
    cleanup.down(chosen)
    whole.up(chosen, SITE, lambda line: print(f"  {line}", file=sys.stderr))
    yield chosen
    cleanup.down(chosen)
    image.remove(chosen, "ami-test")


def test_nodes_are_machines_with_systemd_ssh_and_their_hardware(lab: Layout) -> None:
    assert run(lab, "dgx01", "hostname") == "dgx01"
    assert run(lab, "dgx01", "systemctl is-system-running") == "running"
    assert run(lab, "dgx01", "getent hosts dgx01").split()[0] == "10.30.1.1"
    assert run(lab, "dgx01", "ls /dev/nvidia*").split() == [f"/dev/nvidia{name}" for name in ("-uvm", "0", "1", "ctl")]
    identities = {run(lab, name, "cat /etc/machine-id") for name in ("gw01", "dgx01", "nfs01")}
    assert len(identities) == 3
    assert float(run(lab, "gw01", "cat /proc/uptime").split()[0]) < 300


def test_up_again_changes_nothing_and_a_running_node_is_not_booted_twice(lab: Layout) -> None:
    before = {name: run(lab, name, "systemctl show -p UserspaceTimestamp") for name in ("gw01", "dgx01")}
    watcher = processes.read_pid_file(lab.node("dgx01") / "supervisor.pid")
    assert whole.up(lab, SITE) == []
    assert nodes.boot(lab, "dgx01") is False
    assert processes.read_pid_file(lab.node("dgx01") / "supervisor.pid") == watcher
    assert {name: run(lab, name, "systemctl show -p UserspaceTimestamp") for name in before} == before


def test_nodes_reach_no_outside_address_and_no_other_site_without_the_tunnel(lab: Layout) -> None:
    outside = next(line.split()[2] for line in _host_routes() if line.startswith("default via"))
    for address in (outside, "10.70.0.1", "192.0.2.1"):
        completed = nodes.exec(lab, "dgx01", [f"ping -c1 -W1 {address}"])
        assert completed.returncode != 0, f"dgx01 reached {address}"
    assert run(lab, "dgx01", "ping -c1 -W1 10.30.0.14")


def _host_routes() -> list[str]:
    # A machine without a default route has nothing to leak to; the test then pings only the far sites.
    lines = subprocess.run(["ip", "route"], capture_output=True, text=True, check=True).stdout.splitlines()
    return [*lines, "default via 192.0.2.2"]


def test_packages_come_through_the_cache(lab: Layout) -> None:
    run(lab, "dgx01", "apt-get -q update && apt-get -qy install tree")
    assert run(lab, "dgx01", "tree --version").startswith("tree")
    # Debian testing is used only for packages that request it by name.
    policy = run(lab, "dgx01", "apt-cache policy slurmd")
    assert "100" in policy and "26." in policy
    assert "Candidate: 24." in policy
    port = packages.running(lab)
    assert port is not None
    listening = subprocess.run(["ss", "-Htln"], capture_output=True, text=True, check=True).stdout
    assert [line.split()[3] for line in listening.splitlines() if line.split()[3].endswith(f":{port.port}")] == [
        f"127.0.0.1:{port.port}"
    ]


def test_wheels_come_from_the_wheelhouse(lab: Layout) -> None:
    listing = run(lab, "dgx01", f"curl -sf http://{operator_address(ONPREM)}:3143/")
    assert "boto3-" in listing
    run(lab, "dgx01", "python3 -m venv /tmp/v && /tmp/v/bin/pip install -q --no-index "
        f"--find-links http://{operator_address(ONPREM)}:3143/ --trusted-host {operator_address(ONPREM)} six")  # fmt: skip


def test_after_a_reboot_the_node_has_its_own_uptime(lab: Layout) -> None:
    run(lab, "gw01", "echo kept > /root/kept")
    started = time.monotonic()
    reboot(lab, "gw01")
    uptime = float(run(lab, "gw01", "cat /proc/uptime").split()[0])
    assert uptime < time.monotonic() - started, "counted from the reboot, not from the first boot"
    assert run(lab, "gw01", "cat /root/kept") == "kept"


def test_power_cut_ends_every_process_and_keeps_the_disk(lab: Layout) -> None:
    run(lab, "dgx01", "echo kept > /root/kept; sync; nohup sleep 4242 >/dev/null 2>&1 &")
    nodes.power_cut(lab, "dgx01")
    assert not nodes.alive(lab, "dgx01")
    assert _processes_of("sleep", "4242") == []
    assert nodes.boot(lab, "dgx01") is True
    nodes.wait_ssh(lab, ["dgx01"])
    assert run(lab, "dgx01", "cat /root/kept") == "kept"
    assert run(lab, "dgx01", "ls /dev/nvidia1") == "/dev/nvidia1"


def test_commit_makes_an_image_that_an_instance_boots_from(lab: Layout) -> None:
    run(lab, "dgx01", "echo baked > /opt/baked; rm /usr/bin/less")
    nodes.commit(lab, "dgx01", f"layer-{time.time_ns():x}", tags=["ami-test"])
    cloud_node.launch(lab, "i-0123456789abcdef0", "10.70.0.5", "ami-test", gpus=4)
    nodes.wait_ssh(lab, ["i-0123456789abcdef0"])
    name = "i-0123456789abcdef0"
    assert run(lab, name, "hostname; cat /opt/baked; ls /dev/nvidia* | wc -l").split() == ["ip-10-70-0-5", "baked", "6"]
    assert nodes.exec(lab, name, ["test -e /usr/bin/less"]).returncode == 1
    assert "169.254.169.254 dev eth0" in run(lab, name, "ip route")
    assert run(lab, name, "cat /etc/machine-id") != ""
    cloud_node.launch(lab, name, "10.70.0.5", "ami-test", gpus=4)
    cloud_node.terminate(lab, name)
    cloud_node.terminate(lab, name)
    assert not nodes.exists(lab, name)
    nodes.boot(lab, "dgx01")
    nodes.wait_ssh(lab, ["dgx01"])


def test_link_down_stops_packets_and_a_capture_counts_them(lab: Layout) -> None:
    far = next(node for node in SITE.nodes if node.name == "awsgw").nics[1].addresses[0].partition("/")[0]
    cable = network.port("gw01", INTERNET, load(lab, "gw01").nics)
    with capture.capture(lab, INTERNET) as seen:
        run(lab, "gw01", f"ping -c3 -i0.2 -W1 {far}")
    assert seen.packets["icmp"] == 6
    assert seen.dropped == 0
    assert set(seen.packets) <= {"icmp", "arp"}
    network.link_down(lab, cable)
    assert nodes.exec(lab, "gw01", [f"ping -c1 -W1 {far}"]).returncode != 0
    network.link_up(lab, cable)
    run(lab, "gw01", f"ping -c2 -W1 {far}")


def test_errors_contain_the_fix(lab: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LabError, match="nodes of this lab: awsgw, dgx01, gw01, nfs01"):
        load(lab, "dgx1")
    with pytest.raises(LabError, match="no image 'ami-none'"):
        cloud_node.launch(lab, "i-1", "10.70.0.9", "ami-none", 0)
    assert not nodes.exists(lab, "i-1")


@pytest.fixture
def killable() -> Iterator[tuple[Layout, LabSite]]:
    chosen = layout("landbridge-test-killed")
    site = plan(ONPREM, CLOUD, None, (Machine("a", "10.30.0.2"), Machine("b", "10.30.0.3")))
    cleanup.down(chosen)
    yield chosen, site
    cleanup.down(chosen)


def test_down_leaves_nothing_after_everything_was_killed(killable: tuple[Layout, LabSite]) -> None:
    lab, site = killable
    whole.up(lab, site)
    assert len(cleanup.leftovers(lab)) > 5
    # All processes of the lab on the host are killed at once: supervisors, systemd-nspawn and the relay. The containers
    # lose their parents and continue to run.
    for pid_file in [*lab.state.glob("*.pid"), *lab.state.glob("nodes/*/*.pid")]:
        process = processes.read_pid_file(pid_file)
        if process:
            process.signal(signal.SIGKILL)
    orphan = cleanup.leftovers(lab)
    assert any(leftover.startswith("process") for leftover in orphan)
    cleanup.down(lab)
    assert cleanup.leftovers(lab) == []
    assert not lab.state.exists()
    assert str(lab.state) not in Path("/proc/mounts").read_text()
    cleanup.down(lab)


def test_down_works_without_the_state_folder(killable: tuple[Layout, LabSite]) -> None:
    lab, site = killable
    whole.up(lab, site)
    for pid_file in lab.state.glob("nodes/*/*.pid"):
        pid_file.unlink()
    cleanup.down(lab)
    assert cleanup.leftovers(lab) == []


def _processes_of(*words: str) -> list[int]:
    command_line = "\0".join(words) + "\0"
    pids = []
    for pid in os.listdir("/proc"):
        try:
            if pid.isdigit() and Path(f"/proc/{pid}/cmdline").read_text() == command_line:
                pids.append(int(pid))
        except OSError:
            continue
    return pids
