"""Results of the health checks on healthy and unhealthy nodes, with stand-ins of their tools."""

import ast
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from landbridge import yaml_text
from landbridge.catalog import platforms
from landbridge.catalog.hardware.xids import xids
from landbridge.ops.gpu_health.kernel_log import read_log
from landbridge.plan.site.health import expected
from tests.unit.core.samples import environment
from tests.unit.health.standins import ROOT, Standins, machine

__all__ = ["machine"]

from node_health import checks, counters, facts, gpus, host, kernel, query, recovery
from node_health.problem import Problem, Result, is_ours, load, reason, save
from node_health.run import run

ROLE = ROOT / "ansible/roles/node_health"
ACTIONS = {str(number): xid.action for number, xid in xids().items() if xid.drains}


def check_reasons(machine: Standins, platform: str = "dgx-h100", **faults: Any) -> list[str]:
    """Return the results of the hardware checks, as Slurm's reasons."""
    expectations = expected(environment(), platforms()[platform])
    machine.inject(**faults)
    problems, _ = gpus.check({**expectations["gpus"], "driver_branch": "580", "fabric_seconds": 0})
    problems += recovery.check()[0]
    problems += host.ports(expectations) if expectations.get("ports") else []
    return [reason([problem]) for problem in problems]


@pytest.mark.parametrize("platform", sorted(platforms()))
def test_a_healthy_node_of_every_platform_has_no_problem(machine: Standins, platform: str) -> None:
    machine.become(platform)
    assert check_reasons(machine, platform) == []
    expectations = expected(environment(), platforms()[platform])
    assert gpus.check(expectations["gpus"])[1] == []


@pytest.mark.parametrize(
    ("faults", "reasons"),
    [
        ({"lost": [3]}, ["landbridge:gpu:one of 8 is off the bus at 0000:3f:00.0; do: reboot"]),
        ({"absent": [7]}, ["landbridge:gpu:7 of 8 are there; do: reboot"]),
        ({"memory": {"0": 40_000}}, ["landbridge:memory:GPU 0 at 0000:1b:00.0 has 40000 of 81559 MiB; do: repair"]),
        ({"width": {"2": 8}}, ["landbridge:pcie:GPU 2 at 0000:33:00.0 runs x8 of x16; do: repair"]),
        ({"generation": {"2": 4}}, ["landbridge:pcie:GPU 2 at 0000:33:00.0 runs generation 4 of 5; do: repair"]),
        ({"generation": {str(index): 4 for index in range(8)}}, []),
        ({"recovery": {"0": "Reset"}}, ["landbridge:recovery:GPU 0 needs: Reset; do: reset"]),
        ({"recovery": {"0": "Drain and Reset"}}, ["landbridge:recovery:GPU 0 needs: Drain and Reset; do: reset"]),
        ({"recovery": {"0": "Drain P2P"}}, ["landbridge:recovery:GPU 0 needs: Drain P2P; do: inspect"]),
        ({"recovery": {"7": "Reboot"}}, ["landbridge:recovery:GPU 7 needs: Reboot; do: reboot"]),
        ({"recovery": {str(index): "[N/A]" for index in range(8)}}, []),
        ({"recovery": {"7": "Swap the planet"}}, ["landbridge:recovery:GPU 7 needs: Swap the planet; do: inspect"]),
        ({"fabric": {"3": "In Progress"}}, ["landbridge:fabric:GPU 3: registration In Progress; do: reboot"]),
        # NVIDIA permits new jobs: warnings.
        ({"uncorrected": {"0": 3}}, []),
        ({"pending": [1]}, []),
        ({"unremapped": [1]}, ["landbridge:rows:GPU at 0000:27:00.0 could not remap a row; do: repair"]),
        ({"thermal": [4]}, ["landbridge:thermal:GPU 4 at 0000:4b:00.0 slows itself down, too hot; do: repair"]),
        ({"links": {"5": 2}}, ["landbridge:nvlink:GPU 5 has 16 of 18 links; do: reset"]),
        ({"driver": "575.57.08"}, ["landbridge:driver:version 575.57.08 is not of branch 580; do: inspect"]),
        ({"ports": ["mlx5_2"]}, ["landbridge:port:7 of 8 at 400 Gb/s; mlx5_2/1 is Down/Polling; do: inspect"]),
        ({"slow": {"mlx5_0": 200}}, ["landbridge:port:7 of 8 at 400 Gb/s; do: inspect"]),
    ],
    ids=lambda value: next(iter(value), "none") if isinstance(value, dict) else "",
)  # fmt: skip
def test_each_fault_is_one_problem_with_location_and_action(
    machine: Standins, faults: dict[str, Any], reasons: list[str]
) -> None:
    assert check_reasons(machine, **faults) == reasons


#: Fields of one pass that a GPU without an answer has no value for.
LOST = [field for field in query.ALL if field not in ("index", "pci.bus_id", "name", "uuid", "driver_version")]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        *((LOST, text) for text in ("[Unknown Error]", "ERR!", "[GPU requires reset]", "[Not Found]")),
        *(([field], "[Unknown Error]") for field in LOST),
    ],
    ids=lambda value: "-".join(value[:2]) if isinstance(value, list) else value,
)
def test_gpustack_26_a_gpu_with_a_value_that_cannot_be_read_is_a_problem(
    machine: Standins, fields: list[str], text: str
) -> None:
    words = f"landbridge:gpu:GPU 2 at 0000:33:00.0 does not answer: {text}; do: reset"
    assert check_reasons(machine, values={"2": dict.fromkeys(fields, text)}) == [words]


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("memory.total", "[Not Supported]"),
        ("ecc.errors.uncorrected.volatile.total", "[N/A]"),
        ("fabric.state", "N/A"),
        ("gpu_recovery_action", "[Requested functionality has been deprecated]"),
    ],
)
def test_a_value_that_one_gpu_lacks_is_a_problem_and_one_that_all_lack_is_none(
    machine: Standins, field: str, text: str
) -> None:
    words = f"landbridge:gpu:GPU 2 at 0000:33:00.0 has no {field}, which the other GPUs have; do: inspect"
    assert check_reasons(machine, values={"2": {field: text}}) == [words]
    assert check_reasons(machine, values={str(index): {field: text} for index in range(8)}) == []


def test_gpu_operator_2596_a_corrupted_inforom_is_a_note_and_hides_nothing(machine: Standins) -> None:
    assert check_reasons(machine, inforom=[0], width={"2": 8}) == [
        "landbridge:pcie:GPU 2 at 0000:33:00.0 runs x8 of x16; do: repair"
    ]
    expectations = expected(environment(), platforms()["dgx-h100"])["gpus"]
    assert gpus.check(expectations)[1] == ["the infoROM of GPU 0000:1b:00.0 is corrupted"]
    assert len(facts.identities()) == 8 and facts.processes() == 0
    assert len(counters.replays()) == len(counters.link_errors()) == 8
    machine.inject(inforom=[0], links={"5": 2})
    assert [problem.detail for problem in gpus.check(expectations)[0]] == ["GPU 5 has 16 of 18 links"]


@pytest.mark.parametrize("name", ["nvidiactl", "nvidia-uvm"])
def test_gpu_operator_2685_a_missing_device_file_of_the_driver_is_a_problem(machine: Standins, name: str) -> None:
    machine.inject()
    wanted = {"gpus": {"count": 8, "type": "h100"}}
    assert checks.check({"expected": wanted, "xids": {}}, machine.root / "state").problems == ()
    (machine.root / "dev" / name).unlink()
    (problem,) = checks.check({"expected": wanted, "xids": {}}, machine.root / "state").problems
    assert reason([problem]) == f"landbridge:driver:/dev/{name} is not there: CUDA programs fail; do: inspect"
    assert checks.check({"expected": {}, "xids": {}}, machine.root / "state").problems == ()


def test_a_use_that_one_gpu_lacks_is_no_problem(machine: Standins) -> None:
    assert check_reasons(machine, values={"2": {"utilization.gpu": "[N/A]"}}) == []


def test_equally_slow_slots_are_a_note_and_no_problem(machine: Standins) -> None:
    machine.inject(generation={str(index): 4 for index in range(8)})
    expectations = expected(environment(), platforms()["dgx-h100"])["gpus"]
    assert gpus.check(expectations)[1] == ["every GPU's slot allows generation 4 of 5"]


def test_a_node_of_another_platform_is_a_problem(machine: Standins) -> None:
    machine.become("dgx-a100")
    assert any(
        text.startswith("landbridge:model:GPU 0 at 0000:1b:00.0 is a NVIDIA A100") for text in check_reasons(machine)
    )


def test_pending_page_retirement_of_old_gpus_is_a_problem(machine: Standins) -> None:
    machine.become("dgx-1")
    assert check_reasons(machine, "dgx-1", pending=[2]) == [
        "landbridge:pages:GPU 2 has pages that a reset retires; do: reset"
    ]


def test_a_driver_that_does_not_respond_is_one_problem(machine: Standins) -> None:
    assert [text.partition(":NVIDIA-SMI")[0] for text in check_reasons(machine, unloaded=True)] == ["landbridge:driver"]


@pytest.mark.parametrize(
    "words",
    [["--query-gpu=nosuch", "--format=csv,noheader,nounits"], ["--query-gpu=index"], ["--reset"], ["--query-gpu=links", "--format=csv,noheader,nounits"]],
)  # fmt: skip
def test_the_stand_ins_refuse_unknown_arguments(machine: Standins, words: list[str]) -> None:
    machine.inject()
    assert run(["nvidia-smi", *words]).code == 2
    assert run(["ibstat", "-v"]).code == 1
    machine.inject(broken=[1])
    assert run(["nvidia-smi", "-L"]).code == 1


def test_a_hanging_or_missing_program_has_no_result() -> None:
    assert run(["sleep", "5"], 0.2).code is None
    assert run(["nosuch-program"]).code == 127


def record(sequence: int, text: str) -> str:
    return f"4,{sequence},1000,-;{text}\n SUBSYSTEM=pci\n"


def xid(number: int, rest: str = "pid=1, name=python") -> str:
    return f"NVRM: Xid (PCI:0000:1b:00): {number}, {rest}"


def words(problems: list[Problem]) -> list[str]:
    return [f"{problem.check} {problem.detail} {problem.action}" for problem in problems]


def test_hardware_errors_stay_until_acknowledged_without_their_log_records(machine: Standins, tmp_path: Path) -> None:
    memory = tmp_path / "events.json"
    machine.log.write_text(record(7, xid(79)) + record(8, xid(79)) + record(9, xid(48)) + record(10, "usb 1-1: new"))
    expected_words = ["xid 48 at 0000:1b:00 reset", "xid 79 at 0000:1b:00 reboot"]
    assert words(kernel.check(ACTIONS, memory, machine.log)) == expected_words
    machine.log.write_text("")
    assert words(kernel.check(ACTIONS, memory, machine.log)) == expected_words
    kernel.acknowledge(memory)
    machine.log.write_text(record(9, xid(48)))
    assert kernel.check(ACTIONS, memory, machine.log) == []
    machine.log.write_text(record(11, xid(48)))
    assert words(kernel.check(ACTIONS, memory, machine.log)) == ["xid 48 at 0000:1b:00 reset"]


@pytest.mark.parametrize("number", [8, 13, 31, 32, 43, 45, 63, 94, 144, 999])
def test_an_application_error_is_no_event(number: int) -> None:
    assert kernel.event(xid(number), ACTIONS) is None


@pytest.mark.parametrize(
    ("number", "name", "action"),
    [
        (0, "None", ""),
        (1, "GPU Reset Required", "reset"),
        (1, "PF FLR", "reset"),
        (2, "Node Reboot Required", "reboot"),
        (2, "OS Reboot", "reboot"),
        (3, "Drain P2P", "inspect"),
        (4, "Drain and Reset", "reset"),
        (5, "Recover IMEX Domain", "inspect"),
        (6, "Bus Reset", "reboot"),
        (7, "System Reboot", "reboot"),
        (0x2A, "Something New", "inspect"),
    ],
)
def test_every_recovery_action_in_the_drivers_log_has_an_action(number: int, name: str, action: str) -> None:
    line = xid(154, f"GPU recovery action changed from 0x0 (None) to {number:#x} ({name})")
    assert kernel.event(line, ACTIONS) == ("xid", "154", "0000:1b:00", action)


def test_a_withdrawn_recovery_action_ends_its_event(machine: Standins, tmp_path: Path) -> None:
    change = "GPU recovery action changed from {} to {}"
    machine.log.write_text(record(3, xid(154, change.format("0x0 (None)", "0x1 (GPU Reset Required)"))))
    memory = tmp_path / "events.json"
    assert words(kernel.check(ACTIONS, memory, machine.log)) == ["xid 154 at 0000:1b:00 reset"]
    machine.log.write_text(record(4, xid(154, change.format("0x1 (GPU Reset Required)", "0x0 (None)"))))
    assert kernel.check(ACTIONS, memory, machine.log) == []


@pytest.mark.parametrize(
    ("recovery_of_driver", "reasons"),
    [("None", []), ("Reset", ["recovery GPU 0 needs: Reset reset"]), ("", ["xid 154 at 0000:1b:00 reset"])],
    ids=["recovered", "required", "old driver"],
)
def test_the_drivers_present_recovery_action_replaces_its_announcement(
    machine: Standins, monkeypatch: pytest.MonkeyPatch, recovery_of_driver: str, reasons: list[str]
) -> None:
    line = xid(154, "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)")
    machine.log.write_text(record(3, line))
    monkeypatch.setattr(kernel.check, "__defaults__", (machine.log,))
    machine.inject(
        recovery={str(index): recovery_of_driver if index == 0 else recovery_of_driver and "None" for index in range(8)}
    )
    wanted = {"gpus": expected(environment(), platforms()["dgx-h100"])["gpus"]}
    result = checks.check({"expected": wanted, "xids": ACTIONS}, machine.root / "state")
    assert words(list(result.problems)) == reasons


#: Places of an Xid as the driver writes them: a GPU, a MIG GPU instance, a compute instance, and a word of a later driver.
PLACES = ("0000:1b:00", "0000:1b:00 GPU-I:05", "0000:1b:00 GPU-I:05 GPU-CI:00", "0000:1b:00 GPU-I:05 NEW:1")


@pytest.mark.parametrize("number", sorted(xids()))
def test_both_readers_know_every_xid_also_of_a_mig_instance(number: int) -> None:
    actions = {str(key): xid.action for key, xid in xids().items()} | {"154": "reboot"}
    text = "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)" if number == 154 else "pid=1"
    for place in PLACES:
        line = f"NVRM: Xid (PCI:{place}): {number}, {text}"
        assert kernel.event(line, actions) == ("xid", str(number), "0000:1b:00", actions[str(number)])
        drains = str(number) in ACTIONS or number == 154
        observed = [(entry.detail, entry.action) for entry in read_log(f"[  1.0] {line}", "node").observations]
        assert observed == ([(f"{number} at 0000:1b:00", actions[str(number)])] if drains else [])


def test_fatal_switch_errors_are_events() -> None:
    switch = "nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 24007, {}, Link 15 sourcequeue egress timeout"
    assert kernel.event(switch.format("Fatal"), ACTIONS) == ("sxid", "24007", "0000:05:00.0", "reset")
    assert kernel.event(switch.format("Non-fatal"), ACTIONS) is None


@pytest.mark.parametrize(
    ("line", "detail"),
    [
        ("NVRM: nvAssertOkFailedNoLog: Assertion failed: Reset required [NV_ERR_RESET_REQUIRED] (0x00000062) returned from status @ kernel_channel.c:2874", "NV_ERR_RESET_REQUIRED at one GPU"),
        ("NVRM: GPU1 nvCheckOkFailedNoLog: Check failed: Reset required [NV_ERR_RESET_REQUIRED] (0x00000062) returned from rmStatus", "NV_ERR_RESET_REQUIRED at GPU1"),
    ],
)  # fmt: skip
def test_dra_driver_982_a_required_reset_without_an_xid_stays_until_acknowledged(
    machine: Standins, tmp_path: Path, line: str, detail: str
) -> None:
    memory = tmp_path / "events.json"
    machine.log.write_text("".join(record(number, line) for number in range(7, 10)))
    for _ in range(2):
        assert words(kernel.check(ACTIONS, memory, machine.log)) == [f"recovery {detail} reset"]
        machine.log.write_text("")
    assert [entry.detail for entry in read_log(f"[  1.0] {line}", "node").observations] == [detail]
    kernel.acknowledge(memory)
    assert kernel.check(ACTIONS, memory, machine.log) == []


def test_a_registration_in_progress_is_a_problem_after_its_time_only(machine: Standins, tmp_path: Path) -> None:
    machine.inject(fabric={"3": "In Progress"})
    wanted, memory = {"count": 8, "type": "h100", "fabric": True, "fabric_seconds": 300}, tmp_path / "fabric.json"
    assert gpus.check(wanted, memory) == ([], ["GPU 3: registration with the fabric In Progress"])
    memory.write_text(json.dumps({"3": json.loads(memory.read_text())["3"] - 301}))
    assert words(gpus.check(wanted, memory)[0]) == ["fabric GPU 3: registration In Progress reboot"]
    machine.inject()
    assert gpus.check(wanted, memory) == ([], [])
    machine.inject(fabric={"3": "In Progress"})
    assert gpus.check(wanted, memory)[0] == [], "the time starts again"


def test_memory_errors_with_which_new_jobs_may_start_are_warnings(machine: Standins) -> None:
    machine.inject(uncorrected={"0": 3}, pending=[1])
    wanted = expected(environment(), platforms()["dgx-h100"])["gpus"]
    assert gpus.check(wanted) == (
        [],
        [
            "GPU 0 has 3 uncorrected memory errors since its reset",
            "GPU at 0000:27:00.0 has a row that its next reset remaps",
        ],
    )
    machine.become("dgx-1")
    machine.inject(uncorrected={"0": 3})
    assert check_reasons(machine, "dgx-1", uncorrected={"0": 3}) == [
        "landbridge:ecc:GPU 0 at 0000:1b:00.0 has 3 uncorrected errors since its reset; do: reset"
    ]


def test_a_node_without_a_kernel_log_has_no_events(tmp_path: Path) -> None:
    assert kernel.check(ACTIONS, tmp_path / "events.json", tmp_path / "nosuch") == []


def test_the_reason_has_the_most_severe_problem_and_fits_the_field() -> None:
    problems = [Problem("mount", "/home 'is' gone\n", "inspect"), Problem("xid", "79 at 0000:1b:00", "reboot")]
    assert reason(problems) == reason(problems[::-1]) == "landbridge:xid:79 at 0000:1b:00; do: reboot (and 1 more)"
    long = reason([Problem("service", "x" * 500, "reset")])
    assert len(long) <= 200 and long.endswith("; do: reset") and is_ours(long)
    assert reason([]) == ""
    # Reasons of the burst controller, of Slurm and of operators.
    for text in ("landbridge: InsufficientInstanceCapacity (capacity)", "Not responding", "bad fan", ""):
        assert not is_ours(text)


def test_a_saved_result_is_loaded_and_a_damaged_file_is_ignored(tmp_path: Path) -> None:
    result = Result(5.0, (Problem("xid", "79", "reboot", event=True),), ("slow",))
    save(tmp_path / "r.json", result)
    assert load(tmp_path / "r.json") == result
    (tmp_path / "r.json").write_text("{")
    assert load(tmp_path / "r.json") is None


def test_missing_mounts_and_full_disks_are_problems(tmp_path: Path) -> None:
    assert list(host.mounts(["/"])) == []
    assert [mount.detail for mount in host.mounts([str(tmp_path)])] == [f"{tmp_path} is not mounted"]
    assert list(host.disks({"/": 0})) == []
    assert [disk.check for disk in host.disks({"/": 101, str(tmp_path / "no"): 1})] == ["disk", "disk"]


def test_the_xids_of_the_role_are_those_of_the_catalogue() -> None:
    assert yaml_text.load((ROLE / "defaults/main.yml").read_text())["node_health_xids"] == ACTIONS


def test_the_program_is_valid_for_every_python_of_the_nodes() -> None:
    for path in (ROLE / "files/node_health").glob("*.py"):
        ast.parse(path.read_text(), feature_version=(3, 9))
        lines = path.read_text().splitlines()
        assert "from __future__ import annotations" in lines or path.name == "__init__.py"
    listed = yaml_text.load((ROLE / "tasks/main.yml").read_text())[0]["vars"]["node_health_names"]
    assert sorted(listed) == sorted(path.stem for path in (ROLE / "files/node_health").glob("*.py"))
    subprocess.run(["sh", "-n", ROLE / "files/landbridge-node-health"], check=True)
