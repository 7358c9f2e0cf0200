"""Organisations: answer sets with their expected architecture and the rules that must give the reasons."""

from dataclasses import dataclass
from typing import Any

from landbridge.economics.assessment.answers import Answers
from landbridge.economics.assessment.answers_file import answers_of
from landbridge.economics.assessment.architecture import ArchitectureKind as Kind


@dataclass(frozen=True)
class Organisation:
    """Answers, the architecture, rules that must be in the reasons, the environment to fork, and words of the report."""

    answers: dict[str, Any]
    kind: Kind
    rules: tuple[str, ...]
    origin: str
    words: tuple[str, ...] = ()


def shares(**percent: float) -> dict[str, float]:
    return percent


def use(gpu: str, mean: float, peak: float, hours: float = 168, **more: Any) -> dict[str, Any]:
    return {"gpu": gpu, "mean_gpus": mean, "peak_gpus": peak, "hours_a_week": hours, **more}


ORGANISATIONS: dict[str, Organisation] = {
    "small lab without metal": Organisation(
        {
            "workloads": shares(experiments=80, burst=20),
            "utilisation": use("h100", 2, 8, 60),
            "growth": {"percent_a_year": 40},
        },
        Kind.CLOUD_FIRST,
        ("cloud-first", "demand-shape"),
        "startup",
        ("no dgx-h100 is worth owning", "hours a week and mean use stays over"),
    ),
    "hospital": Organisation(
        {
            "workloads": shares(sensitive=40, experiments=30, burst=30),
            "utilisation": use("h100", 8, 48, 100),
            "data": {
                "classes": [
                    {"name": "patients", "regime": "hipaa", "sites": ["onprem"], "at": "onprem", "tb": 120},
                    {"name": "research", "tb": 30},
                ]
            },
            "staff": {"people": 2, "gpu_operations": "some"},
        },
        Kind.BASELINE,
        ("forced-onprem", "baseline-share"),
        "hybrid",
        ("45 CFR 164.308(b)", "patients may be on-prem only", "every access is logged"),
    ),
    "defence contractor under ITAR": Organisation(
        {
            "workloads": shares(sensitive=60, baseline=20, burst=20),
            "utilisation": use("h100", 30, 64),
            "data": {"classes": [{"name": "export", "regime": "itar"}]},
            "staff": {"people": 3, "gpu_operations": "experienced"},
        },
        Kind.BASELINE,
        ("marginal-node", "price-of-other-region"),
        "regulated",
        ("us-gov-west-1", "22 CFR 120.54(a)(5)", "US persons"),
    ),
    "intelligence agency with classified data": Organisation(
        {
            "workloads": shares(sensitive=100),
            "utilisation": use("h100", 3, 40, 50),
            "data": {"classes": [{"name": "secret", "regime": "classified"}]},
            "staff": {"people": 4, "gpu_operations": "experienced"},
        },
        Kind.ONPREM_ONLY,
        ("forced-onprem",),
        "regulated",
        ("No jobs and no bucket of this class are in AWS",),
    ),
    "university with bursty use": Organisation(
        {
            "workloads": shares(burst=50, experiments=50),
            "utilisation": use("h100", 12, 256, 80),
            "staff": {"people": 1, "gpu_operations": "some"},
        },
        Kind.CLOUD_FIRST,
        ("cloud-first",),
        "startup",
    ),
    "university with a cluster of its own": Organisation(
        {
            "workloads": shares(baseline=10, burst=50, experiments=40),
            "utilisation": use("h100", 60, 256),
            "constraints": {"machines": [{"platform": "dgx-h100", "nodes": 2}], "capital_usd": 100000},
            "staff": {"people": 2, "gpu_operations": "experienced"},
        },
        Kind.HYBRID,
        ("existing-machines", "capital-limit", "baseline-share"),
        "hybrid",
        ("2 nodes with 16 GPUs exist",),
    ),
    "frontier lab": Organisation(
        {
            "workloads": shares(baseline=80, burst=15, experiments=5),
            "utilisation": use("b200", 1500, 2400),
            "growth": {"percent_a_year": 100},
            "staff": {"people": 60, "gpu_operations": "experienced"},
            "constraints": {"region": "us-west-2", "first_gpu_weeks": 8},
        },
        Kind.BASELINE,
        ("marginal-node", "price-of-other-region"),
        "frontier",
        ("machines need 26 weeks", "At 100 percent growth"),
    ),
    "lab with experiments on B200": Organisation(
        {
            "workloads": shares(baseline=40, experiments=60),
            "utilisation": use("b200", 40, 64),
            "staff": {"people": 2, "gpu_operations": "experienced"},
        },
        Kind.HYBRID,
        ("spot-experiments", "marginal-node", "baseline-share"),
        "hybrid",
        ("60 percent of the work, are left to spot at 23.84 USD to 24.40 USD",),
    ),
    "inference provider": Organisation(
        {
            "workloads": shares(inference=95, experiments=5),
            "utilisation": use("h100", 90, 160),
            "staff": {"people": 5, "gpu_operations": "experienced"},
        },
        Kind.BASELINE,
        ("marginal-node", "baseline-share"),
        "hybrid",
        ("Inference (95 percent): near its users",),
    ),
    "bank under PCI": Organisation(
        {
            "workloads": shares(sensitive=50, baseline=30, burst=20),
            "utilisation": use("h100", 40, 80),
            "data": {"classes": [{"name": "cards", "regime": "pci_dss", "at": "aws", "tb": 1000}]},
            "staff": {"people": 3, "gpu_operations": "some"},
        },
        Kind.BASELINE,
        ("marginal-node",),
        "hybrid",
        ("PCI DSS 4.0.1", "1,000 TB) out of AWS over the internet costs 53,800 USD"),
    ),
    "group that trains at 80 percent": Organisation(
        {
            "workloads": shares(baseline=100),
            "utilisation": use("h100", 51.2, 64),
            "staff": {"people": 2, "gpu_operations": "experienced"},
        },
        Kind.BASELINE,
        ("marginal-node",),
        "hybrid",
        ("21.85 USD an hour", "above 40 percent use", "above 46 percent use"),
    ),
    "group whose GPUs are never idle": Organisation(
        {
            "workloads": shares(baseline=100),
            "utilisation": use("h100", 64, 64),
            "staff": {"people": 2, "gpu_operations": "some"},
        },
        Kind.ONPREM_ONLY,
        ("marginal-node", "onprem-only"),
        "hybrid",
        ("64 owned GPUs cover the peak",),
    ),
    "start-up that wants no site": Organisation(
        {
            "workloads": shares(baseline=90, inference=10),
            "utilisation": use("h100", 64, 64),
            "constraints": {"sites": ["aws"]},
        },
        Kind.CLOUD_FIRST,
        ("forced-cloud",),
        "startup",
    ),
    "European company with personal data": Organisation(
        {
            "workloads": shares(sensitive=100),
            "utilisation": use("h100", 3, 16, 60),
            "data": {"classes": [{"name": "people", "regime": "gdpr"}]},
        },
        Kind.CLOUD_FIRST,
        ("cloud-first",),
        "startup",
        ("eu-north-1", "articles 28 and 44 to 49"),
    ),
    "agency between two regimes": Organisation(
        {
            "workloads": shares(sensitive=60, experiments=40),
            "utilisation": use("h100", 6, 40, 80),
            "data": {
                "classes": [
                    {"name": "people", "regime": "gdpr"},
                    {"name": "export", "regime": "itar"},
                    {"name": "open"},
                ]
            },
            "constraints": {"region": "us-gov-west-1"},
            "staff": {"people": 2, "gpu_operations": "some"},
        },
        Kind.BASELINE,
        ("forced-onprem",),
        "regulated",
        ("Data of people may be on-prem only",),
    ),
    "site with little power": Organisation(
        {
            "workloads": shares(baseline=70, burst=30),
            "utilisation": use("h100", 80, 160),
            "constraints": {"site_power_kw": 30},
            "staff": {"people": 2, "gpu_operations": "experienced"},
        },
        Kind.HYBRID,
        ("power-limit", "baseline-share"),
        "hybrid",
        ("30 kW, permits 2 new nodes",),
    ),
    "renderer with L40S, of which no price of a node is known": Organisation(
        {"workloads": shares(burst=100), "utilisation": use("l40s", 20, 24)},
        Kind.CLOUD_FIRST,
        ("price-unknown",),
        "startup",
        ("No dated price of a machine with l40s",),
    ),
    "group with a trace": Organisation(
        {
            "workloads": shares(baseline=40, burst=60),
            "utilisation": use("h100", 374, 1243, trace={"p50": 422, "p95": 758, "p99": 871}),
            "staff": {"people": 20, "gpu_operations": "experienced"},
        },
        Kind.BASELINE,
        ("trace-shape", "marginal-node"),
        "frontier",
    ),
}


def answers(data: dict[str, Any]) -> Answers:
    outcome = answers_of(data)
    assert outcome.answers is not None, [str(finding) for finding in outcome.findings]
    return outcome.answers
