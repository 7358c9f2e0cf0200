"""Fault drills: a fault drains exactly its node, with the reason, and the repaired node resumes."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from landbridge.catalog.hardware.gpu_health import gpu_health
from landbridge.ops.gpu_health.act import Repairs, carry_out
from landbridge.ops.gpu_health.machine import advance
from landbridge.ops.gpu_health.observe import observe
from landbridge.ops.gpu_health.values import HealthAction, HealthJournal, HealthStep, RepairResult
from landbridge.ops.idle_gpus.samples import read_samples
from sandbox.demo.cluster import wait_for
from sandbox.hardware import faults
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.machine.reboot import reboot
from tests.roles.gpu.node_health_lab import INTERVAL_SECONDS, NODES, ROUND_SECONDS, SITE, Drill, has_reasons

pytestmark = [pytest.mark.lab]


KINDS = [("24.11", "munge"), pytest.param(("26.05", "slurm"), marks=pytest.mark.long)]


@pytest.fixture(scope="module", params=KINDS, ids=["munge", "slurm"])
def drill(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drill]:
    lab = layout("landbridge-health")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE)
        for name in NODES:
            # Stand-in for the homes' file system: the check needs only a mount that answers.
            nodes.exec(lab, name, ["echo 'tmpfs /home tmpfs defaults' >> /etc/fstab && mount /home"])
        started = Drill(lab, tmp_path_factory.mktemp("health"), *request.param)
        started.converge()
        yield started
    finally:
        cleanup.down(lab)


@pytest.fixture(autouse=True)
def healthy(request: pytest.FixtureRequest, drill: Drill) -> None:
    """Begin every drill with healthy nodes in service; a fault of dgx02 that replaces another one needs no repair first."""
    if "fault" not in request.fixturenames:
        faults.inject(drill.lab, "dgx02")
        drill.wait({})


def test_a_second_run_changes_nothing(drill: Drill) -> None:
    assert drill.converge().changed == {"ctl01": 0, "dgx01": 0, "dgx02": 0}


#: No reason begins with the one before it: the wait for it would accept the earlier fault's.
STATES: list[tuple[str, dict[str, Any], str]] = [
    ("a GPU off the bus", {"lost": [3]}, "landbridge:gpu:one of 8 is off the bus at 0000:3f:00.0; do: reboot"),
    ("a GPU that is gone after a restart", {"absent": [7]}, "landbridge:gpu:7 of 8 are there; do: reboot"),
    ("a lane fewer than it should", {"width": {"2": 8}}, "landbridge:pcie:GPU 2 at 0000:33:00.0 runs x8 of x16; do: repair"),
    ("one slower slot", {"generation": {"2": 4}}, "landbridge:pcie:GPU 2 at 0000:33:00.0 runs generation 4 of 5"),
    ("a reset that the driver requires", {"recovery": {"1": "Reset"}}, "landbridge:recovery:GPU 1 needs: Reset; do: reset"),
    ("a row that cannot be remapped", {"unremapped": [1]}, "landbridge:rows:GPU at 0000:27:00.0 could not"),
    ("heat", {"thermal": [4]}, "landbridge:thermal:GPU 4 at 0000:4b:00.0"),
    ("NVLinks down", {"links": {"5": 2}}, "landbridge:nvlink:GPU 5 has 16 of 18 links; do: reset"),
    ("a slow port", {"slow": {"mlx5_2": 200}}, "landbridge:port:7 of 8 at 400 Gb/s"),
    ("a port down", {"ports": ["mlx5_2"]}, "landbridge:port:7 of 8 at 400 Gb/s; mlx5_2/1 is Down/Polling"),
    ("another driver", {"driver": "575.57.08"}, "landbridge:driver:version 575.57.08 is not of branch 580"),
    ("no driver", {"unloaded": True}, "landbridge:driver:NVIDIA-SMI has failed"),
]  # fmt: skip


@pytest.mark.parametrize(("fault", "reason"), [row[1:] for row in STATES], ids=[row[0] for row in STATES])
def test_a_fault_drains_only_its_node_with_its_reason(drill: Drill, fault: dict[str, Any], reason: str) -> None:
    faults.inject(drill.lab, "dgx02", **fault)
    drill.wait({"dgx02": reason})


def test_a_repair_resumes_the_node(drill: Drill) -> None:
    faults.inject(drill.lab, "dgx02", thermal=[4])
    drill.wait({"dgx02": "landbridge:thermal:GPU 4 at 0000:4b:00.0"})
    faults.inject(drill.lab, "dgx02")
    drill.wait({})


def test_a_stopped_service_and_a_lost_mount_drain_too(drill: Drill) -> None:
    drill.run("dgx01", "systemctl stop nvidia-fabricmanager")
    drill.wait({"dgx01": "landbridge:service:nvidia-fabricmanager is inactive; do: inspect"})
    drill.run("dgx01", "systemctl start nvidia-fabricmanager && umount -l /home")
    drill.wait({"dgx01": "landbridge:mount:/home is not mounted"})
    drill.run("dgx01", "mount /home")
    drill.wait({})


def test_a_hardware_error_drains_until_an_operator_resumes_the_node(drill: Drill) -> None:
    for number, action in ((79, "reboot"), (48, "reset"), (95, "reset"), (119, "reset")):
        faults.xid(drill.lab, "dgx01", number, gpu=1)
        drill.wait({"dgx01": f"landbridge:xid:{number} at 0000:27:00; do: {action}"})
        # No query shows it any more; only an operator can confirm the repair.
        drill.run("ctl01", "scontrol update nodename=dgx01 state=resume")
        wait_for("the error acknowledged", lambda: drill.problems("dgx01"), lambda problems: problems == [])
        drill.wait({})
    assert nothing_happens(drill)


def test_an_application_error_drains_no_node(drill: Drill) -> None:
    for number in (13, 31, 43, 45, 63, 94):
        faults.xid(drill.lab, "dgx01", number)
    faults.log(
        drill.lab, "dgx02", "NVRM: Xid (PCI:0000:1b:00): 154, GPU recovery action changed from 0x0 (None) to 0x0 (None)"
    )
    assert nothing_happens(drill)


def test_the_recovery_action_in_the_drivers_log_drains(drill: Drill) -> None:
    # A driver whose nvidia-smi does not have the state.
    faults.inject(drill.lab, "dgx02", recovery=dict.fromkeys(map(str, range(8)), ""))
    line = "NVRM: Xid (PCI:0000:1b:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"
    faults.log(drill.lab, "dgx02", line)
    drill.wait({"dgx02": "landbridge:xid:154 at 0000:1b:00; do: reboot"})
    # The driver's present state replaces the line in the log, and clears itself.
    faults.inject(drill.lab, "dgx02")
    drill.wait({})


def test_a_second_faulty_node_stays_in_service_and_has_the_problem_as_its_comment(drill: Drill) -> None:
    faults.inject(drill.lab, "dgx01", recovery={"0": "Reset"})
    drill.wait({"dgx01": "landbridge:recovery:"})
    faults.inject(drill.lab, "dgx02", recovery={"0": "Reset"})
    wait_for(
        "a comment", lambda: drill.comment("dgx02"), lambda text: "not drained: health checks have drained 1" in text
    )
    faults.inject(drill.lab, "dgx01")
    drill.wait({"dgx02": "landbridge:recovery:"})
    assert drill.comment("dgx02") == ""
    faults.inject(drill.lab, "dgx02")


def test_an_operators_drain_and_its_reason_stay(drill: Drill) -> None:
    drill.run("ctl01", "scontrol update nodename=dgx01 state=drain reason='new memory, ask Kim'")
    faults.inject(drill.lab, "dgx01", lost=[0])
    assert nothing_happens(drill, {"dgx01": "new memory, ask Kim"})
    faults.inject(drill.lab, "dgx01")
    assert nothing_happens(drill, {"dgx01": "new memory, ask Kim"})
    drill.run("ctl01", "scontrol update nodename=dgx01 state=resume")


def test_a_persistent_fault_drains_again_after_a_resume(drill: Drill) -> None:
    faults.inject(drill.lab, "dgx01", lost=[0])
    drill.wait({"dgx01": "landbridge:gpu:"})
    drill.run("ctl01", "scontrol update nodename=dgx01 state=resume")
    drill.wait({"dgx01": "landbridge:gpu:"})
    faults.inject(drill.lab, "dgx01")


def test_a_restart_clears_a_fault_from_the_log(drill: Drill) -> None:
    faults.xid(drill.lab, "dgx02", 79)
    drill.wait({"dgx02": "landbridge:xid:79"})
    reboot(drill.lab, "dgx02")
    drill.wait({})


def test_a_node_that_starts_unhealthy_is_drained(drill: Drill) -> None:
    # The service too: a running check would write its result from before the fault.
    units = "slurmd landbridge-node-health.timer landbridge-node-health.service"
    drill.run("dgx02", f"systemctl stop {units} && rm -rf /run/landbridge-node-health")
    faults.inject(drill.lab, "dgx02", driver="575.57.08")
    drill.run("dgx02", "systemctl start slurmd")
    drill.wait({"dgx02": "landbridge:driver:version 575.57.08 is not of branch 580"})
    faults.inject(drill.lab, "dgx02")
    drill.run("dgx02", "systemctl start landbridge-node-health.timer")


def test_a_repair_resets_the_gpu_and_keeps_the_node_in_a_reservation_until_its_return(drill: Drill) -> None:
    facts = json.loads(drill.run("dgx01", "/opt/landbridge/bin/landbridge-node-health facts"))
    gpu = facts["gpus"][1]
    assert facts["processes"] == 0 and facts["result"]["problems"] == []
    assert len(read_samples(drill.run("dgx01", "/opt/landbridge/bin/landbridge-node-health samples"))) >= 8
    faults.xid(drill.lab, "dgx01", 95, gpu=1)
    drill.wait({"dgx01": "landbridge:xid:95"})
    retested: list[tuple[set[str], str]] = []

    def retest(action: HealthAction, reservation: str) -> tuple[bool, str]:
        retested.append((drill.node("dgx01")[0], drill.scontrol(["show", "reservation", reservation])))
        return True, ""

    def play(action: HealthAction) -> tuple[bool, str]:
        return drill.repair("dgx01", f"step={action.step}", f"gpus={','.join(action.gpus)}").code == 0, ""

    journal, steps = HealthJournal(), []
    results: tuple[RepairResult, ...] = ()
    for _ in range(5):
        answer = json.loads(drill.scontrol(["show", "nodes", "--json"]))
        seen = observe(answer, ["dgx01", "dgx02"], lambda node, words: drill.run(node, " ".join(words)))
        journal, actions = advance(journal, seen.views, seen.observations, results, gpu_health(), 1, time.time())
        steps += [(action.step, action.node) for action in actions]
        results = carry_out(actions, drill.scontrol, Repairs(play, retest))
    names = [HealthStep.DRAIN, HealthStep.RESET, HealthStep.RETEST, HealthStep.RETURN]
    assert steps == [(name, "dgx01") for name in names]
    ((state, reservation),) = retested
    assert "DRAIN" not in state and "Users=root" in reservation
    assert "landbridge-health-dgx01" not in drill.scontrol(["show", "reservation"])
    assert journal.repairs.keys() == {gpu["uuid"]}
    assert nothing_happens(drill)


def test_a_repair_leaves_the_node_of_an_operator_alone(drill: Drill) -> None:
    drill.run("ctl01", "scontrol update nodename=dgx01 state=drain reason='new memory, ask Kim'")
    assert "is not drained by landbridge health" in drill.repair("dgx01", "step=reboot").one_line
    drill.run("ctl01", "scontrol update nodename=dgx01 state=undrain")


def nothing_happens(drill: Drill, expected: dict[str, str] | None = None) -> bool:
    """Wait two check intervals and Slurm's own; tell whether exactly the expected nodes are drained."""
    time.sleep(INTERVAL_SECONDS + 2 * ROUND_SECONDS)
    return has_reasons(drill.drained(), expected or {})
