"""Values of all GPUs from one call of nvidia-smi, and lists of MIG slices, on outputs of a real H100 and a real H200."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from landbridge.catalog.hardware.mig import mig_profiles
from tests.unit.health.standins import Standins, machine
from tests.unit.health.test_recorded_gpus import FOLDERS, expectations, model_name, replay

__all__ = ["machine", "model_name", "replay"]

from node_health import checks, counters, facts, gpus, query, recovery, samples
from node_health.run import Output, run

UUID = "GPU-00000000-0000-4000-8000-000000000000"
#: nvidia-smi that also writes each call to a file, before the recorded or simulated one runs.
LOGGED = """#!/bin/sh
echo "$*" >>{log}
exec {program} "$@"
"""


@pytest.fixture
def calls(machine: Standins) -> Path:
    """Return the file with one line for each call of nvidia-smi."""
    program, log = machine.root / "usr/bin/nvidia-smi", machine.root / "calls"
    behind = program.rename(program.with_name("nvidia-smi.behind"))
    program.write_text(LOGGED.format(log=log, program=behind))
    program.chmod(0o755)
    return log


def recorded(model: str, path: str) -> str:
    """Return an output without its command and its exit code."""
    return (FOLDERS[model] / f"{path}.txt").read_text().partition("\n")[2].rpartition("[exit ")[0]


def use(model: str, name: str) -> Mapping[str, float]:
    (row,) = query.rows(recorded(model, name), query.ALL)
    return {field: float(row[field]) for field in ("utilization.gpu", "memory.used", "power.draw")}


def test_one_call_has_the_values_of_all_checks_and_the_sample(replay: Standins, calls: Path, model_name: str) -> None:
    values = query.Values()
    assert gpus.check(expectations(model_name), None, values) == ([], [])
    assert recovery.check(values) == ([], True)
    latest = samples.sample(7, values)
    assert latest is not None
    (gpu,) = latest["gpus"]
    assert (gpu["gpu"], gpu["uuid"], gpu["utilisation"], gpu["memory_mib"]) == (0, UUID, 0, 0)
    assert 70 < gpu["watts"] < 78
    assert calls.read_text().splitlines() == [f"--query-gpu={','.join(query.ALL)} --format=csv,noheader,nounits"]


def test_a_pass_over_eight_gpus_calls_nvidia_smi_twice(machine: Standins, calls: Path) -> None:
    config = {"expected": {"gpus": {"count": 8, "type": "h100", "links": 18, "fabric": True}}, "xids": {}}
    values = query.Values()
    result = checks.check(config, machine.root / "state", values)
    assert result.problems == () and samples.sample(result.at, values) is not None
    assert [line.partition("=")[0] for line in calls.read_text().splitlines()] == ["--query-gpu", "nvlink --status"]


def test_a_driver_that_lacks_a_field_is_asked_for_each_group(
    machine: Standins, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query, "ALL", (*query.ALL, "gpu_no_such_field"))
    machine.inject(recovery={"3": "Reset"}, unremapped=[2], use={"1": [97, 4000, 655.5]})
    values = query.Values()
    problems, _ = gpus.check({"count": 8, "type": "h100", "errors": "row_remapping", "fabric": True}, None, values)
    problems += recovery.check(values)[0]
    latest = samples.sample(0, values)
    assert [problem.check for problem in problems] == ["rows", "recovery"]
    assert latest is not None and latest["gpus"][1]["watts"] == 655.5
    assert len(calls.read_text().splitlines()) == 6


def test_a_driver_that_lacks_a_field_has_a_gpu_that_does_not_answer(
    machine: Standins, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query, "ALL", (*query.ALL, "gpu_no_such_field"))
    machine.inject(values={"3": {"remapped_rows.failure": "ERR!"}, "5": {"power.draw": "[Unknown Error]"}})
    problems, _ = gpus.check({"count": 8, "type": "h100", "errors": "row_remapping", "fabric": True})
    assert [problem.detail for problem in problems] == [
        "GPU 3 at 0000:3f:00.0 does not answer: ERR!",
        "GPU 5 at 0000:57:00.0 does not answer: [Unknown Error]",
    ]


def test_the_recorded_refusal_is_recognised(model_name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked_fields: list[str] = []

    def refuses(command: list[str]) -> Output:
        asked_fields.append(command[1])
        return Output(2, recorded(model_name, "smi-query-pass-old-driver"))

    monkeypatch.setattr(query, "run", refuses)
    assert query.Values().get(query.FABRIC) == (Output(2, recorded(model_name, "smi-query-pass-old-driver")), [])
    assert asked_fields[1] == f"--query-gpu={','.join(query.FABRIC)}"


def test_a_gpu_that_works_has_its_use_in_the_same_call(model_name: str) -> None:
    working, idle = use(model_name, "working/smi-query-pass"), use(model_name, "smi-query-pass")
    assert working["utilization.gpu"] == 100 and working["power.draw"] > 600
    assert idle["utilization.gpu"] == 0 and idle["power.draw"] < 80
    assert idle["memory.used"] == 0 < working["memory.used"]


def test_identities_and_processes_of_the_recorded_gpu(replay: Standins, model_name: str) -> None:
    (identity,) = facts.identities()
    assert (identity["pci_bus_id"], identity["uuid"]) == ("00000000:00:06.0", UUID)
    assert re.fullmatch(r"96\.00(\.[0-9A-F]{2}){3}", identity["vbios_version"])
    assert facts.processes() == 0
    assert recorded(model_name, "working/smi-query-apps").strip().isdigit()
    assert counters.link_errors() == {}


def test_the_slices_of_the_driver_are_those_of_the_catalogue(model_name: str) -> None:
    listed = re.findall(r"MIG (\S+)\s+(\d+)\s+\d+/(\d+)\s", recorded(model_name, "smi-mig-lgip"))
    plain = {name: (int(number), int(total)) for name, number, total in listed if "+" not in name}
    places = re.findall(r"Profile ID\s+(\d+) Placements? ?: \{([\d,]+)\}:(\d+)", recorded(model_name, "smi-mig-lgipp"))
    by_number = {int(number): (tuple(map(int, starts.split(","))), int(size)) for number, starts, size in places}
    slots = mig_profiles(model_name)
    assert {name: total for name, (_, total) in plain.items()} == {
        name: len(slot.starts) for name, slot in slots.items()
    }
    assert {name: by_number[number] for name, (number, *_) in plain.items()} == {
        name: (slot.starts, slot.size) for name, slot in slots.items()
    }


def test_the_stand_in_has_the_fields_of_the_recorded_call(machine: Standins, model_name: str) -> None:
    fields = ",".join(query.ALL)
    output = run(["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader,nounits"])
    assert output.code == 0
    assert {len(line.split(", ")) for line in output.text.splitlines()} == {len(query.ALL)}
    assert (FOLDERS[model_name] / "smi-query-pass.txt").read_text().startswith(f"$ nvidia-smi --query-gpu={fields} ")
    assert json.loads(json.dumps(samples.sample(0)))["gpus"][7]["gpu"] == 7
