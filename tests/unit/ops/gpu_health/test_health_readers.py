"""Readers of recorded outputs: kernel logs, nvidia-smi -q -x, and counters."""

import json
from pathlib import Path

import pytest

from landbridge.catalog.hardware.gpu_health import gpu_health
from landbridge.catalog.hardware.health_checks import health_checks
from landbridge.ops.gpu_health.counters import CounterReading, counter_observations
from landbridge.ops.gpu_health.kernel_log import read_log
from landbridge.ops.gpu_health.observe import node_facts
from landbridge.ops.gpu_health.requirement import requirement
from landbridge.ops.gpu_health.smi_xml import SmiError, read_smi

DATA = Path(__file__).with_name("data")
XML = (DATA / "h200-580.xml").read_text()
UUID = "GPU-11111111-2222-3333-4444-555555555555"
ADDRESS = "0000:00:06"


@pytest.mark.parametrize("name", ["h200-580-dmesg.txt", "h200-580-kmsg.txt"])
def test_xids_of_programs_are_no_observations_of_the_gpu(name: str) -> None:
    log = read_log((DATA / name).read_text(), "dgx01")
    assert log.observations == () and log.ignored_lines == 0
    assert log.uuids == {ADDRESS: UUID}
    assert log.serials == {ADDRESS: "1650000000001"}


@pytest.mark.parametrize(
    ("line", "at", "kind", "detail", "action"),
    [
        ("[  110.5] NVRM: Xid (PCI:0000:00:06): 79, pid=1, GPU has fallen off the bus.", 1110.5, "xid", "79 at 0000:00:06", "reboot"),
        ("[Thu Nov 26 06:00:00 2026] NVRM: Xid (PCI:0000:00:06): 48, pid=1", 1795672800, "xid", "48 at 0000:00:06", "reset"),
        ("2026-11-26T06:00:00+0000 n1 kernel: NVRM: Xid (PCI:0000:00:06): 54, x", 1795672800, "xid", "54 at 0000:00:06", "repair"),
        ("2026-11-26T06:00:00,5+00:00 NVRM: Xid (PCI:0000:00:06): 95, x", 1795672800.5, "xid", "95 at 0000:00:06", "reset"),
        ("4,365,111499975,c;NVRM: Xid (PCI:0000:00:06): 119, x", 1111.499975, "xid", "119 at 0000:00:06", "reset"),
        ("[ 1.0] NVRM: Xid (PCI:0000:00:06): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)", 1001, "xid", "154 at 0000:00:06", "reboot"),
        ("[ 1.0] NVRM: Xid (PCI:0000:00:06): 154, GPU recovery action changed from 0x2 (Node Reboot Required) to 0x0 (None)", 1001, "xid", "154 at 0000:00:06", ""),
        ("[ 1.0] nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 12028, Fatal, Link 32", 1001, "sxid", "12028 at 0000:c3:00", "reset"),
        ("[ 1.0] NVRM: GPU 0000:00:06.0: RmInitAdapter failed! (0x22:0x56:762)", 1001, "gpu", "the driver cannot start the GPU at 0000:00:06", "reboot"),
    ],
)  # fmt: skip
def test_each_form_of_a_log_and_each_kind_of_line(line: str, at: float, kind: str, detail: str, action: str) -> None:
    (observation,) = read_log(line, "dgx01", 1000, {ADDRESS: UUID}).observations
    assert (observation.at, observation.kind, observation.detail, observation.action) == (at, kind, detail, action)
    assert observation.gpu == ("" if kind == "sxid" else UUID)


def test_a_line_without_a_known_time_is_counted() -> None:
    log = read_log("yesterday NVRM: Xid (PCI:0000:00:06): 79, x\n[soon] NVRM: Xid (PCI:0000:00:06): 79, x", "dgx01")
    assert (log.observations, log.ignored_lines) == ((), 2)


def test_a_healthy_gpu_has_its_identity_and_no_fault() -> None:
    reading = read_smi(f"$ nvidia-smi -q -x\n{XML}[exit 0]\n")
    (gpu,) = reading.gpus
    assert (reading.driver, reading.attached, gpu.faults, gpu.processes) == ("580.159.04", 1, (), 0)
    identity = gpu.identity
    assert (identity.uuid, identity.serial, identity.address) == (UUID, "1650000000001", ADDRESS)
    assert (identity.name, identity.vbios, identity.part_number) == ("NVIDIA H200", "96.00.A5.00.1A", "2335-895-A1")
    assert gpu.counters["pcie_replay"] == 1 and gpu.counters["temperature"] == 37


@pytest.mark.parametrize(
    ("before", "after", "kind", "action"),
    [
        ("<remapped_row_failure>No", "<remapped_row_failure>Yes", "rows", "repair"),
        ("<unrepairable_memory>No", "<unrepairable_memory>Yes", "rows", "repair"),
        ("<pending_retirement>N/A", "<pending_retirement>Yes", "pages", "reset"),
        ("<gpu_recovery_action>None", "<gpu_recovery_action>Reset", "recovery", "reset"),
        ("<gpu_recovery_action>None", "<gpu_recovery_action>Drain and Reset", "recovery", "reset"),
        ("<gpu_recovery_action>None", "<gpu_recovery_action>Drain P2P", "recovery", "inspect"),
        ("<gpu_recovery_action>None", "<gpu_recovery_action>Reboot", "recovery", "reboot"),
        ("hw_thermal_slowdown>Not Active", "hw_thermal_slowdown>Active", "thermal", "repair"),
        ("hw_power_brake_slowdown>Not Active", "hw_power_brake_slowdown>Active", "power", "repair"),
        ("<current_link_width>16x", "<current_link_width>8x", "pcie", "repair"),
        ("<gpu_recovery_action>None", "<gpu_recovery_action>GPU requires reset", "gpu", "reset"),
        ("<gpu_temp>37 C", "<gpu_temp>Unknown Error", "gpu", "reset"),
        ("<replay_counter>1", "<replay_counter>ERR!", "gpu", "reset"),
        ("<gpu_temp>37 C", "<gpu_temp>GPU is lost", "gpu", "reboot"),
        ("<state>N/A</state>\n\t\t\t<status>N/A", "<state>Completed</state>\n\t\t\t<status>Unknown Error", "fabric", "reboot"),
    ],
)  # fmt: skip
def test_each_fault_of_a_reading(before: str, after: str, kind: str, action: str) -> None:
    assert before in XML
    (fault,) = read_smi(XML.replace(before, after)).gpus[0].faults
    assert (fault[0], fault[2]) == (kind, action)


@pytest.mark.parametrize("text", ["", "No devices were found", XML[:5000], "<nvidia_smi_log><a></nvidia_smi_log>"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(SmiError):
        read_smi(text)


def test_counters_count_by_their_increase_in_an_hour() -> None:
    def reading(at: float, **values: float) -> CounterReading:
        return CounterReading(at, "dgx01", "GPU-1", values)

    readings = [
        reading(0, pcie_replay=1, nvlink_errors=0),
        reading(600, pcie_replay=2, nvlink_errors=0),
        reading(1200, pcie_replay=62, nvlink_errors=4),
        # After a reboot.
        reading(1800, pcie_replay=0, nvlink_errors=0),
    ]
    observations = counter_observations(readings, gpu_health())
    assert [(entry.at, entry.kind) for entry in observations] == [(1200, "nvlink_errors"), (1200, "pcie_replay")]


def test_each_kind_that_a_health_check_reports_is_one_of_its_checks() -> None:
    counters = {"nvlink_errors", "power", "pcie_replay", "port_errors"}
    assert gpu_health().kinds.keys() - counters <= health_checks().checks.keys()


def facts_of(*readings: tuple[float, dict[str, int]], part: str = UUID) -> str:
    """Return the output of `landbridge-node-health facts` with these readings of one part."""
    counters = [{"at": at, "parts": {part: values}} for at, values in readings]
    return json.dumps({"result": None, "gpus": [], "processes": 0, "booted_at": 1.0, "counters": counters})


def test_errors_in_three_readings_of_an_hour_require_the_repair_and_fewer_do_not() -> None:
    errors = [(600.0 * number, {"nvlink_errors": 5 * number}) for number in range(4)]
    seen = node_facts("dgx01", facts_of(*errors)).observations
    assert [(entry.at, entry.kind, entry.gpu) for entry in seen] == [
        (at, "nvlink_errors", UUID) for at in (600, 1200, 1800)
    ]
    need = requirement(seen, gpu_health())
    assert need is not None and (need.action, need.gpus) == ("reset", (UUID,))
    fewer = requirement(node_facts("dgx01", facts_of(*errors[:3])).observations, gpu_health())
    assert fewer is not None and not fewer.drains
    # Without an increase, and after a restart of the driver.
    assert node_facts("dgx01", facts_of((0, {"pcie_replay": 9}), (600, {"pcie_replay": 0}))).observations == ()


def test_a_port_that_fails_again_and_again_is_no_fault_of_a_gpu() -> None:
    failures = [(600.0 * number, {"port_errors": number}) for number in range(4)]
    seen = node_facts("dgx01", facts_of(*failures, part="mlx5_0/1")).observations
    need = requirement(seen, gpu_health())
    assert need is not None and (need.action, need.gpus) == ("repair", ())
    assert "mlx5_0/1" in need.detail


def test_facts_of_a_program_without_counters_are_read() -> None:
    text = json.dumps({"result": None, "gpus": [], "processes": 0, "booted_at": 1.0})
    assert node_facts("dgx01", text).processes == 0
