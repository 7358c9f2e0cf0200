"""State machine of GPU health: a table of observations, and a simulated site with faults, persons and lost journals."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landbridge.ops.gpu_health.requirement import requirement
from landbridge.ops.gpu_health.values import PREFIX, HealthJournal, HealthObservation, HealthState
from tests.thorough import examples
from tests.unit.ops.gpu_health.simulated_site import FACTS, PERSON, Machine, Site, site


def observed(kind: str, at: float = 0, action: str = "", gpu: str = "GPU-1", node: str = "n0") -> HealthObservation:
    return HealthObservation(at, node, kind, "", gpu, action)


@pytest.mark.parametrize(
    ("observations", "action"),
    [
        ([], None),
        ([observed("mount", action="inspect")], None),
        ([observed("xid", action="")], None),
        ([observed("xid", action="application")], None),
        ([observed("xid", action="reset")], "reset"),
        ([observed("xid", action="reboot"), observed("ecc")], "reboot"),
        ([observed("recovery", action="inspect")], "inspect"),
        ([observed("recovery", action="reboot")], "reboot"),
        ([observed("gpu", action="reboot")], "reboot"),
        ([observed("gpu", action="reset")], "reset"),
        ([observed("gpu", action="inspect")], "inspect"),
        ([observed("sxid")], "reset"),
        ([observed("pages")], "reset"),
        ([observed("rows")], "repair"),
        ([observed("nvlink")], "reset"),
        ([observed("fabric")], "reboot"),
        ([observed("pcie")], "repair"),
        ([observed("port", gpu="")], "repair"),
        ([observed("thermal")], "inspect"),
        ([observed("thermal", at) for at in (0, 60, 120)], "repair"),
        ([observed("thermal", at) for at in (0, 3600, 7200)], "inspect"),
        ([observed("thermal", at) for at in (0, 60, 120, 90_000)], "repair"),
        ([observed("thermal", at, gpu=f"GPU-{at}") for at in (0, 60, 120)], "inspect"),
        ([observed("power", at) for at in (0, 60, 120)], "repair"),
        ([observed("nvlink_errors", at) for at in (0, 600, 1200)], "reset"),
        ([observed("pcie_replay", at) for at in (0, 600, 1200)], "repair"),
        ([observed("port_errors", at, gpu="") for at in (0, 600, 1200)], "repair"),
    ],
)
def test_action_that_observations_require(observations: list[HealthObservation], action: str | None) -> None:
    need = requirement(observations, FACTS)
    assert (need.action if need else None) == action


def test_every_kind_is_in_the_table() -> None:
    table = test_action_that_observations_require.pytestmark[0].args[1]  # type: ignore[attr-defined]
    assert {entry.kind for observations, _ in table for entry in observations} >= FACTS.kinds.keys()


END = (HealthState.RETURNED, HealthState.QUARANTINED, HealthState.RMA)


@pytest.mark.parametrize(
    ("first", "end", "steps"),
    [
        ({"fault": ("xid", "reset"), "heals": "reset"}, "returned", ["drain", "reset", "retest", "return"]),
        ({"fault": ("xid", "reset"), "heals": "reset", "processes": 1}, "rma", ["drain", "reboot", "retest", "rma"]),
        ({"fault": ("xid", "reset"), "heals": "reboot", "processes": 1}, "returned", ["drain", "reboot", "retest", "return"]),
        ({"fault": ("xid", "reset"), "heals": "reboot"}, "returned", ["drain", "reset", "retest", "drain", "reboot", "retest", "return"]),
        ({"fault": ("xid", "reset"), "heals": "reset", "passes": False}, "rma", ["drain", "reset", "retest", "drain", "reboot", "retest", "rma"]),
        ({"fault": ("xid", "reset"), "heals": "reset", "passes": None}, "quarantined", ["drain", "reset", "retest", "retest", "quarantine"]),
        ({"fault": ("gpu", "reboot"), "heals": "reboot"}, "returned", ["drain", "reboot", "retest", "return"]),
        ({"fault": ("gpu", "reboot")}, "rma", ["drain", "reboot", "retest", "rma"]),
        ({"fault": ("rows", "")}, "rma", ["drain", "rma"]),
        ({"fault": ("xid", "application")}, "healthy", []),
        ({"fault": ("recovery", "inspect")}, "suspect", []),
        ({"fault": ("xid", "reset"), "drained": True, "reason": PERSON}, "suspect", []),
        ({"fault": ("xid", "reset"), "drained": True, "reason": "landbridge: restart: x"}, "suspect", []),
        ({"fault": ("xid", "reset"), "drained": True, "reason": "landbridge:xid:48 at 0; do: reset", "heals": "reset"}, "returned", ["drain", "reset", "retest", "return"]),
        ({"fault": ("mount", "inspect"), "drained": True, "reason": "landbridge:mount:/home; do: inspect"}, "healthy", []),
    ],
)  # fmt: skip
def test_the_way_of_each_fault(first: dict[str, object], end: str, steps: list[str]) -> None:
    simulated = site(**first)  # type: ignore[arg-type]
    simulated.until("n0", *END)
    simulated.once()
    assert (str(simulated.state("n0")), simulated.steps("n0")) == (end, steps)
    if end == "returned":
        assert not simulated.machines["n0"].drained and not simulated.machines["n0"].reserved


def test_a_drain_waits_for_the_jobs_and_a_person_ends_it() -> None:
    simulated = site(fault=("xid", "reset"), heals="reset", jobs=1)
    assert simulated.until("n0", *END, passes=5) is HealthState.DRAINING
    simulated.machines["n0"].drained = False
    simulated.machines["n0"].fault = None
    assert simulated.until("n0", *END) is HealthState.RETURNED
    assert simulated.steps("n0") == ["drain"]


def test_the_failure_budget_keeps_a_second_node_in_service() -> None:
    simulated = site(fault=("rows", ""))
    simulated.once()
    simulated.machines["n1"].fault = ("rows", "")
    assert simulated.until("n1", *END, passes=10) is HealthState.SUSPECT
    assert simulated.journal.records["n1"].withheld and simulated.steps("n1") == []


def test_a_gpu_that_is_repaired_again_and_again_is_quarantined_in_each_node() -> None:
    simulated = site()
    for _ in range(FACTS.repeated.repairs):
        simulated.machines["n0"].fault, simulated.machines["n0"].heals = ("xid", "reset"), "reset"
        assert simulated.until("n0", *END) is HealthState.RETURNED
        simulated.once()
    simulated.machines["n0"].fault = ("xid", "reset")
    assert simulated.until("n0", HealthState.QUARANTINED) is HealthState.QUARANTINED
    assert "repaired 3 times in 30 days" in simulated.machines["n0"].reason
    # The same fault after the window.
    simulated.once()
    simulated.machines["n0"].drained = False
    simulated.once()
    simulated.now += (FACTS.repeated.days + 1) * 86_400
    assert simulated.until("n0", *END) is HealthState.RETURNED


def test_a_cloud_node_is_drained_for_the_burst_controller_and_no_more() -> None:
    simulated = site(site="aws", fault=("gpu", "reboot"))
    simulated.once()
    assert simulated.machines["n0"].reason.startswith("landbridge:gpu:")
    simulated.once()
    simulated.machines["n0"] = Machine("n0", "aws")
    assert simulated.until("n0", *END) is HealthState.RETURNED
    assert simulated.steps("n0") == ["replace"]


def test_a_lost_journal_continues_from_the_reasons_in_slurm() -> None:
    simulated = site(fault=("xid", "reboot"), heals="reboot", jobs=1)
    for _ in range(2):
        simulated.once()
    simulated.journal = HealthJournal()
    simulated.machines["n0"].jobs = 0
    assert simulated.until("n0", *END) is HealthState.RETURNED
    simulated.machines["n1"].fault = ("rows", "")
    assert simulated.until("n1", *END) is HealthState.RMA
    simulated.journal = HealthJournal()
    simulated.once()
    assert simulated.state("n1") is HealthState.RMA


EVENTS = st.lists(
    st.tuples(
        st.sampled_from([f"n{index}" for index in range(4)]),
        st.sampled_from(
            [
                "reset fault",
                "reboot fault",
                "part fault",
                "heat",
                "check drains",
                "person drains",
                "person resumes",
                "job",
                "job ends",
                "killed",
                "works",
                "process",
                "journal lost",
                "long pause",
                "pass",
            ]
        ),
    ),
    max_size=60,
)


@settings(max_examples=examples(50, 150), deadline=None)
@given(EVENTS, st.integers(1, 4))
def test_no_schedule_breaks_the_rules(events: list[tuple[str, str]], budget: int) -> None:
    """Run any schedule: the assertions of Site hold after each pass, and each drain of the machine has an end."""
    simulated = Site({f"n{index}": Machine(f"n{index}") for index in range(4)}, budget)
    for name, event in events:
        m = simulated.machines[name]
        match event:
            case "reset fault":
                m.fault, m.heals = ("xid", "reset"), "reset"
            case "reboot fault":
                m.fault, m.heals = ("gpu", "reboot"), "reboot"
            case "part fault":
                m.fault, m.heals = ("rows", ""), ""
            case "heat":
                m.fault, m.heals = ("thermal", "repair"), ""
            case "check drains" if not m.drained and simulated.out() < budget:
                # Health checks count the machine's drains in the same budget.
                checks = sum(
                    other.reason.startswith("landbridge:x") and other.drained for other in simulated.machines.values()
                )
                if simulated.out() + checks < budget:
                    m.drained, m.reason = True, "landbridge:xid:48 at 0; do: reset"
            case "person drains":
                m.drained, m.reason = True, PERSON
            case "person resumes":
                m.drained = False
            case "job" if not m.drained and not m.reserved:
                m.jobs = 1
            case "job ends":
                m.jobs = 0
            case "killed":
                m.works = False
            case "works":
                m.works = True
            case "process":
                m.processes = 1
            case "journal lost" if not any(other.reserved for other in simulated.machines.values()):
                simulated.journal = HealthJournal()
            case "long pause":
                simulated.now += 100_000
        simulated.once()
    for m in simulated.machines.values():
        m.works, m.jobs = True, 0
        m.drained = m.drained and m.reason != PERSON
    for _ in range(60):
        simulated.once()
        simulated.now += 7200
    for name, m in simulated.machines.items():
        state = simulated.state(name)
        assert state.in_service or state.is_final
        if m.drained and m.reason.startswith(PREFIX):
            assert state.is_final
        assert not m.reserved or state is HealthState.RETESTING
