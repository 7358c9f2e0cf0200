"""Facts and samples of a node's GPUs, for their repair and for the judgement of their use."""

import json
from pathlib import Path

import pytest

from landbridge.catalog import platforms
from landbridge.plan.site.health import expected
from tests.unit.core.samples import environment
from tests.unit.health.standins import Standins, machine

__all__ = ["machine"]

from node_health import __main__ as program
from node_health import counters, facts, kernel, query, samples
from node_health.run import Output


@pytest.fixture
def node(machine: Standins, monkeypatch: pytest.MonkeyPatch) -> Standins:
    """Return the node with the program's files below its root."""
    health = expected(environment(), platforms()["dgx-h100"])
    health = {"gpus": health["gpus"]}
    config = machine.root / "node-health.json"
    config.write_text(json.dumps({"expected": health, "xids": {"79": "reboot"}}))
    for name, path in (("CONFIG", config), ("STATE", machine.root / "state"), ("MARK", machine.root / "mark.json")):
        monkeypatch.setattr(program, name, path)
    monkeypatch.setattr(kernel.check, "__defaults__", (machine.log,))
    monkeypatch.setenv("SLURMD_NODENAME", "node")
    return machine


def test_facts_have_the_gpus_their_processes_and_the_last_result(
    node: Standins, capsys: pytest.CaptureFixture[str]
) -> None:
    node.inject(processes=2)
    assert program.main(["check"]) == 0
    assert program.main(["facts"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert len(printed["gpus"]) == 8 and printed["processes"] == 2
    first = printed["gpus"][0]
    assert (first["index"], first["pci_bus_id"]) == ("0", "00000000:1B:00.0")
    assert first["uuid"].startswith("GPU-") and first["serial"].startswith("165")
    assert printed["result"]["problems"] == []
    assert printed["booted_at"] > 1_000_000_000


def test_processes_are_unknown_without_an_answer(node: Standins) -> None:
    node.inject(unloaded=True)
    assert facts.facts()["processes"] is None and facts.identities() == []


def test_a_log_event_has_its_own_time(node: Standins) -> None:
    booted_at = facts.booted_at()
    assert booted_at is not None
    node.log.write_text("4,1,250000000,-;NVRM: Xid (PCI:0000:1b:00): 79, pid=1, GPU has fallen off the bus.\n")
    for _ in range(2):
        (problem,) = kernel.check({"79": "reboot"}, node.root / "events.json", node.log)
        assert problem.at == booted_at + 250


def test_an_event_of_an_earlier_release_has_no_time(node: Standins, tmp_path: Path) -> None:
    memory = tmp_path / "events.json"
    memory.write_text(json.dumps({"events": {"xid 79 0000:1b:00": [1, "reboot"]}, "acknowledged": -1, "last": 1}))
    (problem,) = kernel.check({"79": "reboot"}, memory, node.log)
    assert (problem.detail, problem.at) == ("79 at 0000:1b:00", None)


def test_each_round_adds_a_sample_of_every_gpu(node: Standins, capsys: pytest.CaptureFixture[str]) -> None:
    node.inject(use={"3": [97, 40_000, 655.5]})
    for _ in range(2):
        program.main(["check"])
    program.main(["samples"])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(lines) == 2 and lines[0]["at"] <= lines[1]["at"]
    by_gpu = {entry["gpu"]: entry for entry in lines[1]["gpus"]}
    assert [by_gpu[3][key] for key in ("utilisation", "memory_mib", "watts")] == [97, 40_000, 655.5]
    assert [by_gpu[0][key] for key in ("utilisation", "memory_mib", "watts")] == [0, 0, 70]


def test_counters_are_read_every_ten_minutes_and_are_among_the_facts(
    node: Standins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    port = tmp_path / "infiniband/mlx5_0/ports/1/counters"
    port.mkdir(parents=True)
    (port / "link_downed").write_text("2\n")
    monkeypatch.setattr(counters, "INFINIBAND", tmp_path / "infiniband")
    node.inject(replays={"1": 7}, link_errors={"2": 4})
    for _ in range(2):
        program.main(["check"])
    program.main(["facts"])
    printed = json.loads(capsys.readouterr().out)
    (entry,) = printed["counters"]
    uuids = [gpu["uuid"] for gpu in printed["gpus"]]
    assert entry["parts"][uuids[1]] == {"pcie_replay": 7, "nvlink_errors": 0}
    assert entry["parts"][uuids[2]] == {"pcie_replay": 0, "nvlink_errors": 4}
    assert entry["parts"]["mlx5_0/1"] == {"port_errors": 2}


def test_the_recorded_h200_has_its_replays_and_no_nvlink(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = (Path(__file__).parent / "recorded_h200/smi-q-x.txt").read_text()
    monkeypatch.setattr(query, "run", lambda command: Output(0, recorded if "-q" in command else ""))
    (value,) = counters.replays().values()
    assert value == 1 and counters.link_errors() == {}


def test_old_readings_are_removed_and_a_clock_that_went_back_stops_none(tmp_path: Path, node: Standins) -> None:
    path = tmp_path / "counters.jsonl"
    for at in (0, 599, *range(600, 40_000, 600), 100):
        counters.append(path, at)
    times = [entry["at"] for entry in counters.readings(path)]
    assert len(times) == counters.KEPT and times[-1] == 100 and times[0] == 39_600 - 600 * (counters.KEPT - 2)


def test_a_gpu_has_the_number_of_its_device_file(
    node: Standins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "gpus/0000:1b:00.0"
    folder.mkdir(parents=True)
    (folder / "information").write_text("Model: \t\t NVIDIA H100\nDevice Minor: \t 5\n")
    monkeypatch.setattr(facts, "DRIVER", tmp_path / "gpus")
    latest = samples.sample(0)
    assert latest is not None
    assert latest["gpus"][0]["gpu"] == 5


def test_no_sample_of_a_node_that_does_not_answer(node: Standins) -> None:
    node.inject(lost=[3])
    program.main(["check"])
    assert samples.text(node.root / "state" / program.SAMPLES) == ""


def test_the_file_keeps_the_last_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "KEPT", 3)
    path = tmp_path / "samples.jsonl"
    gpus = [{"gpu": 0, "uuid": "GPU-1", "utilisation": 0, "memory_mib": 0, "watts": 70}]
    for at in range(100):
        samples.append(path, {"at": at, "gpus": gpus})
        times = [json.loads(line)["at"] for line in samples.text(path).splitlines()]
        assert times == list(range(at + 1))[-len(times) :]
        assert min(3, at + 1) <= len(times) <= 40
