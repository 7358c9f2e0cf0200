"""Acceptance ladder: readers, thresholds with their sources, and handling of failures."""

import json
from collections.abc import Mapping, Sequence

import pytest

from landbridge.acceptance import outputs
from landbridge.acceptance.climb import Ladder, ProgramResult, climb
from landbridge.acceptance.result import EXIT_CODES, AcceptanceReport
from landbridge.acceptance.rungs import RUNGS, AcceptanceSettings, Rung, groups, job
from landbridge.acceptance.runners import packed
from landbridge.catalog import platforms
from landbridge.catalog.hardware.acceptance import acceptance
from landbridge.plan.ansible.acceptance import bandwidth_thresholds, collective_thresholds
from tests.unit.core.samples import ROOT
from tests.unit.ops.healthy_ladder import GIB, GOOD, NODES, printed
from tests.unit.ops.ladder_outputs import dcgmi, fio, nccl, nvbandwidth, smi, training

#: The catalogue has no thresholds of storage: a site gives its own.
STORAGE = {"storage.read": 10, "storage.write": 8}


def climbed(
    faults: Mapping[tuple[str, str], ProgramResult | str],
    nodes: Sequence[str] = NODES,
    given: Mapping[str, float] | None = None,
    platform: str = "dgx-h100",
) -> AcceptanceReport:
    """Run the ladder on healthy nodes with the given faults, by rung and first node."""

    def run(rung: Rung, together: Sequence[str]) -> ProgramResult:
        output = faults.get((rung.name, together[0]), printed(rung, together))
        return output if isinstance(output, ProgramResult) else ProgramResult(0, output)

    kinds = dict.fromkeys(nodes, platforms()[platform])
    return climb(Ladder("test", kinds, run, thresholds=STORAGE if given is None else given))


def statuses(report: AcceptanceReport) -> dict[tuple[str, str], str]:
    return {(outcome.rung, ",".join(outcome.nodes)): outcome.status for outcome in report.outcomes}


def test_healthy_nodes_pass_every_rung() -> None:
    report = climbed({})
    assert report.status == "passed" and EXIT_CODES[report.status] == 0
    assert [outcome.rung for outcome in report.outcomes] == [
        "driver", "driver", "dcgm", "dcgm", "bandwidth", "bandwidth", "nccl-node", "nccl-node",
        "nccl-pairs", "nccl-all", "storage", "storage", "training",
    ]  # fmt: skip
    written = json.loads(json.dumps(report.json()))
    assert (written["ok"], written["status"], written["exit_code"]) == (True, "passed", 0)
    judged = [check for rung in written["rungs"] for check in rung["checks"] if check["at_least"] is not None]
    assert judged and all(
        check["source"] and check["confidence"] in ("known", "measured", "derived", "given") for check in judged
    )


FAULTS: list[tuple[str, str, ProgramResult | str, str]] = [
    ("a missing GPU", "driver", smi(7), "GPUs: 7, at least 8"),
    ("other GPUs", "driver", smi(name="NVIDIA H100 PCIe"), "model: NVIDIA H100 PCIe"),
    ("less memory", "driver", smi(memory=40000), "memory: 40000 MiB, at least 81559 MiB"),
    ("another driver than the first node's", "driver", smi(driver="590.1.2"), "590.1.2, 580.95.05 on the other nodes"),
    ("a failed diagnosis", "dcgm", dcgmi({"memory": "Fail"}, "GPU 3 failed"), "memory: Fail: GPU 3 failed"),
    ("a warning", "dcgm", dcgmi({"pcie": "Warn"}, "replays"), "pcie: Warn: replays"),
    ("a diagnosis of version 3", "dcgm", dcgmi({"pcie": "Fail"}, "bad", old=True), "pcie: Fail: bad"),
    ("one slow slot", "bandwidth", nvbandwidth(slow=26.0), "host_to_device_memcpy_ce, row 0, column 3: 26 GB/s, at least 48"),
    ("slow links", "nccl-node", nccl(["dgx02"], {**GOOD, 16 * GIB: 330.0}), "busbw@17179869184: 330 GB/s, at least 460"),
    ("wrong sums", "nccl-node", nccl(["dgx02"], GOOD, wrong=4), "wrong values: 16"),
    ("a broken disk", "storage", ProgramResult(1, fio(error=5)), "fio: ended with 1: fio: error 5"),
    ("a GPU off the bus", "driver", ProgramResult(15, "Unable to determine the device handle"), "nvidia-smi: ended with 15: nvidia-smi failed"),
    ("no fabric manager", "nccl-node", ProgramResult(1, "Test CUDA failure: system not yet initialized"), "printed no result: Test CUDA"),
    ("a hang", "bandwidth", ProgramResult(1, nvbandwidth(), "CANCELLED DUE TO TIME LIMIT"), "nvbandwidth: ended with 1: CANCELLED"),
    ("nothing", "storage", "", ""),
]  # fmt: skip


@pytest.mark.parametrize(("rung", "output", "text"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS])
def test_a_fault_stops_its_own_node_and_no_other(rung: str, output: str, text: str) -> None:
    report = climbed({(rung, "dgx02"): output})
    status = statuses(report)
    at = [entry.name for entry in RUNGS].index(rung)
    assert status[rung, "dgx02"] == ("failed" if text else "unjudged")
    assert not [
        outcome
        for outcome in report.outcomes
        if "dgx02" in outcome.nodes and outcome.rung in [r.name for r in RUNGS[at + 1 :]]
    ]
    assert status["storage", "dgx01"] == "passed" and status["training", "dgx01"] == "passed"
    assert report.status == ("failed" if text else "unjudged")
    failed = [check.text for outcome in report.outcomes for check in outcome.checks if check.passed is False]
    assert all(line.startswith(text) or text in line for line in failed) and bool(failed) is bool(text)


def test_a_corrupted_inforom_is_a_warning_as_in_the_health_checks() -> None:
    corrupted = f"{smi()}WARNING: infoROM is corrupted at gpu 00000000:1C:00.0\n"
    report = climbed({("driver", "dgx02"): ProgramResult(14, corrupted)})
    assert report.status == "passed" and set(statuses(report).values()) == {"passed"}
    (outcome,) = [outcome for outcome in report.outcomes if (outcome.rung, outcome.nodes) == ("driver", ("dgx02",))]
    assert "infoROM: corrupted at 00000000:1C:00.0" in [check.text for check in outcome.checks]
    faulty = climbed({("driver", "dgx02"): ProgramResult(14, corrupted.replace("81559", "40000"))})
    assert statuses(faulty)["driver", "dgx02"] == "failed", "the other values are judged"
    for code in (9, 15):
        assert statuses(climbed({("driver", "dgx02"): ProgramResult(code, corrupted)}))["driver", "dgx02"] == "failed"


def test_a_bad_pair_excludes_both_nodes_and_the_others_continue() -> None:
    nodes = ("dgx01", "dgx02", "dgx03", "dgx04")
    report = climbed({("nccl-pairs", "dgx01"): nccl(nodes[:2], dict.fromkeys(GOOD, 150.0))}, nodes)
    status = statuses(report)
    assert status["nccl-pairs", "dgx01,dgx02"] == "failed" and status["nccl-pairs", "dgx03,dgx04"] == "passed"
    assert status["nccl-all", "dgx03,dgx04"] == "passed"


def test_a_collective_that_did_not_span_its_nodes_is_no_pass() -> None:
    """A program that was built without MPI runs once on each node, alone."""
    report = climbed({("nccl-pairs", "dgx01"): nccl(["dgx01"], GOOD)})
    assert statuses(report)["nccl-pairs", "dgx01,dgx02"] == "failed"


MISSING: list[tuple[ProgramResult, str]] = [
    (
        ProgramResult(2, "", "slurmstepd: error: execve(): nvbandwidth: No such file or directory"),
        "nvbandwidth is not on the node",
    ),
    (ProgramResult(127, "", "sh: 1: exec: nvbandwidth: not found"), "nvbandwidth is not on the node"),
    (
        ProgramResult(1, "", "srun: error: Unable to allocate resources: Requested nodes are busy"),
        "Slurm did not run it: srun: error",
    ),
    (ProgramResult(255, "", "ssh: connect to host 10.20.0.13 port 22: No route to host"), "No route to host"),
    (ProgramResult(None, "", "it did not end within 60 s"), "it did not end within 60 s"),
    (ProgramResult(0, "hello"), "nvbandwidth did not answer in JSON: hello"),
    (
        ProgramResult(0, json.dumps({"nvbandwidth": {"error": "CUDA_ERROR_SYSTEM_NOT_READY"}})),
        "CUDA_ERROR_SYSTEM_NOT_READY",
    ),
]


@pytest.mark.parametrize(("ran", "text"), MISSING)
def test_a_program_that_did_not_run_is_not_judged_and_has_a_reason(ran: ProgramResult, text: str) -> None:
    report = climbed({("bandwidth", "dgx01"): ran, ("bandwidth", "dgx02"): ran})
    assert EXIT_CODES[report.status] == 2 and text in report.outcomes[-1].message
    assert report.outcomes[-1].rung == "bandwidth", "no node is left for the later rungs"


def test_a_value_without_a_threshold_is_unjudged_and_stops_no_node() -> None:
    """The adapters of an HGX baseboard are not in the catalogue: two nodes at 1.1 GB/s are not accepted."""
    slow = nccl(NODES, dict.fromkeys(GOOD, 1.1))
    report = climbed({("nccl-pairs", "dgx01"): slow, ("nccl-all", "dgx01"): slow}, platform="hgx-h100")
    status = statuses(report)
    assert status["nccl-pairs", "dgx01,dgx02"] == status["nccl-all", "dgx01,dgx02"] == "unjudged"
    assert status["nccl-node", "dgx01"] == status["training", "dgx01,dgx02"] == "passed"
    assert (report.status, EXIT_CODES[report.status]) == ("unjudged", 2)
    assert report.without_threshold == ("nccl-pairs.busbw@17179869184", "nccl-all.busbw@17179869184")
    (shown,) = (check.text for check in report.outcomes[8].checks if check.unit)
    assert shown == "busbw@17179869184: 1.1 GB/s, no threshold is known"
    given = STORAGE | dict.fromkeys(report.without_threshold, 0)
    assert climbed({}, given=given, platform="hgx-h100").status == "passed"


def test_storage_without_a_threshold_of_the_site_is_unjudged() -> None:
    report = climbed({}, given={})
    assert report.status == "unjudged" and report.without_threshold == ("storage.read", "storage.write")
    assert statuses(report)["training", "dgx01,dgx02"] == "passed"


def test_a_diagnosis_whose_tests_were_all_skipped_is_unjudged() -> None:
    report = climbed({("dcgm", "dgx01"): dcgmi({"software": "Skip"})})
    assert statuses(report)["dcgm", "dgx01"] == "unjudged" and statuses(report)["dcgm", "dgx02"] == "passed"


def test_training_on_cpus_is_unjudged() -> None:
    report = climbed({("training", "dgx01"): training(2.1, 0.4, devices="16 cpu")})
    assert report.outcomes[-1].status == "unjudged"


def test_a_sites_own_thresholds_come_first() -> None:
    report = climbed({}, given={"storage.read": 20, "storage.write": 8, "nccl-node.busbw@1073741824": 425})
    failed = [check for outcome in report.outcomes for check in outcome.checks if check.passed is False]
    assert [(check.name, check.at_least, check.confidence) for check in failed] == [("read", 20, "given")] * 2
    given = [check for outcome in report.outcomes for check in outcome.checks if check.at_least == 425]
    assert given and all(check.passed for check in given)


def test_thresholds_follow_from_the_platform_and_have_a_confidence() -> None:
    def thresholds_of(name: str, machines: int) -> dict[str, tuple[float, str]]:
        return {
            threshold.measurement: (threshold.at_least, threshold.confidence)
            for threshold in collective_thresholds([platforms()[name]] * machines)
        }

    assert thresholds_of("dgx-h100", 1)["busbw@17179869184"] == (460, "measured")
    # Azure's check has one size; the others are shares of its value.
    assert thresholds_of("dgx-h100", 1)["busbw@268435456"] == (230, "derived")
    assert thresholds_of("dgx-h100", 1)["busbw@17179869184"] == (460, "measured")
    # Three quarters of 18 links of 50 GB/s; four fifths of 8 adapters of 400 Gb/s.
    assert thresholds_of("dgx-b200", 1)["busbw@8589934592"] == (675, "derived")
    assert thresholds_of("dgx-h100", 2) == thresholds_of("dgx-h100", 8) and thresholds_of("dgx-h100", 2)[
        "busbw@8589934592"
    ] == (320, "derived")
    # In one NVLink domain, NVLink is required between nodes too: adapters alone reach less.
    gb200 = [platforms()["gb200-nvl72"]] * 18
    apart, together = collective_thresholds(gb200), collective_thresholds(gb200, one_domain=True)
    assert (apart[-1].at_least, together[-1].at_least, together[-1].confidence) == (160, 432, "derived")
    # Two platforms together: the slower one decides. An unknown value has no threshold.
    mixed = collective_thresholds([platforms()["dgx-h100"], platforms()["dgx-a100"]])
    assert mixed[-1].at_least == 160
    assert thresholds_of("hgx-h100", 2) == {} and thresholds_of("pcie-l40s", 1) == {}
    derived = {
        threshold.measurement: threshold.at_least for threshold in bandwidth_thresholds(platforms()["pcie-l40s"])
    }
    assert derived == {"host_to_device_memcpy_ce": 23.6, "device_to_host_memcpy_ce": 23.6}
    assert acceptance().source and acceptance().date


@pytest.mark.parametrize(
    ("platform", "host", "peer"),
    [("dgx-h100", 48, 335), ("dgx-h200", 48, 335), ("gb200-nvl72", 48, 335), ("dgx-a100", 21, 238), ("dgx-1", 9, None)],
)
def test_thresholds_of_copies_are_those_below_which_azures_check_fails(
    platform: str, host: int, peer: int | None
) -> None:
    """Its configuration has `check_gpu_bw <host> <peer>`; nearer than 5 % above them it warns."""
    thresholds = {
        row.measurement: (row.at_least, row.confidence) for row in bandwidth_thresholds(platforms()[platform])
    }
    expected = dict.fromkeys(("host_to_device_memcpy_ce", "device_to_host_memcpy_ce"), (host, "measured"))
    if peer is not None:
        expected["device_to_device_memcpy_read_ce"] = (peer, "measured")
    assert thresholds == expected


def test_every_platforms_thresholds_are_below_what_its_links_can_carry() -> None:
    for name, platform in platforms().items():
        links = platform.gpu.nvlink
        for threshold in (*collective_thresholds([platform]), *collective_thresholds([platform] * 4)):
            assert links is None or 0 < threshold.at_least <= links.total_gb_s * 1.03, (name, threshold)


def test_jobs_take_whole_nodes_and_start_one_process_a_gpu_if_they_span_nodes() -> None:
    by_name = {rung.name: rung for rung in RUNGS}
    words = job(by_name["nccl-pairs"], NODES, 8, AcceptanceSettings(), wait=60, reservation="accept")
    assert {"--nodes=2", "--nodelist=dgx01,dgx02", "--ntasks-per-node=8", "--exclusive", "--mpi=pmix"} <= set(words)
    assert words[0] == "srun" and "--reservation=accept" in words and words[-2:] == ["-g", "1"]
    words = job(by_name["nccl-node"], NODES[:1], 4, AcceptanceSettings(), wait=60)
    assert "--ntasks-per-node=1" in words and words[-2:] == ["-g", "4"]
    words = job(by_name["bandwidth"], NODES[:1], 8, AcceptanceSettings(programs="/opt/nccl/"), wait=60)
    assert any("command -v /opt/nccl/nvbandwidth ||" in word for word in words) and "--input=none" in words
    assert groups(by_name["nccl-pairs"], ("a", "b", "c")) == (("a", "b"), ("c", "a"))
    assert groups(by_name["nccl-pairs"], ("a",)) == groups(by_name["nccl-all"], ("a",)) == ()
    assert b"train.py" in packed(ROOT / "examples/digits")


def test_the_worse_of_in_place_and_out_of_place_counts() -> None:
    result = outputs.collective(nccl(["dgx01"], {GIB: 400.0}))
    assert (result.ranks, result.hosts, dict(result.busbw)) == (8, ("dgx01",), {GIB: 400.0})
    assert outputs.losses(training(2.0, 1.5)) == (2.0, 1.5)
