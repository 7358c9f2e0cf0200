"""Health of GPUs with MIG: the planned instances exist, and NVLink is not expected of them."""

import json
from typing import Any

import pytest

from landbridge.catalog import platforms
from landbridge.plan.site.health import expected
from tests.unit.core.samples import environment
from tests.unit.health.standins import Standins, machine

__all__ = ["machine"]

from node_health import gpus
from node_health.problem import reason


def cut(machine: Standins, gpu: int, *parts: str) -> None:
    """Divide one GPU of the stand-in into these MIG instances."""
    path = machine.root / "lab-mig.json"
    layout: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    instances = {
        str(number): {"profile": name, "start": number, "size": 1, "computes": True}
        for number, name in enumerate(parts)
    }
    path.write_text(json.dumps({**layout, str(gpu): {"enabled": True, "instances": instances}}))


def check_reasons(mig: dict[str, int]) -> list[str]:
    expectations = expected(environment(), platforms()["dgx-h100"])["gpus"]
    return [reason([problem]) for problem in gpus.check({**expectations, "mig": mig})[0]]


def test_planned_mig_instances_are_healthy_without_links(machine: Standins) -> None:
    machine.inject()
    cut(machine, 6, "1g.10gb", "1g.10gb")
    cut(machine, 7, "3g.40gb")
    assert check_reasons({"1g.10gb": 2, "3g.40gb": 1}) == []


def test_links_of_whole_gpus_still_count(machine: Standins) -> None:
    machine.inject(links={"5": 2})
    cut(machine, 7, "3g.40gb")
    assert check_reasons({"3g.40gb": 1}) == ["landbridge:nvlink:GPU 5 has 16 of 18 links; do: reset"]


def test_a_corrupted_inforom_hides_no_missing_instance(machine: Standins) -> None:
    machine.inject(inforom=[0])
    cut(machine, 7, "1g.10gb")
    assert check_reasons({"1g.10gb": 2}) == ["landbridge:mig:1 of 2 1g.10gb; do: inspect"]


def test_a_gpu_with_mig_has_fewer_values_than_the_others(machine: Standins) -> None:
    machine.inject(values={"7": {"ecc.errors.uncorrected.volatile.total": "[N/A]", "utilization.gpu": "[N/A]"}})
    cut(machine, 7, "3g.40gb")
    assert check_reasons({"3g.40gb": 1}) == []


@pytest.mark.parametrize(
    ("parts", "words"),
    [(("1g.10gb",), "1 of 2 1g.10gb"), (("1g.10gb", "1g.10gb", "3g.40gb"), "1 of 0 3g.40gb"), ((), "0 of 2 1g.10gb")],
)
def test_deepops_894_a_missing_mig_instance_drains_the_node(
    machine: Standins, parts: tuple[str, ...], words: str
) -> None:
    machine.inject()
    cut(machine, 7, *parts)
    assert f"landbridge:mig:{words}; do: inspect" in check_reasons({"1g.10gb": 2})
