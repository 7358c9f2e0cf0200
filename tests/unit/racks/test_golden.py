"""Plans of the example racks are the reviewed ones, and the examples have no errors."""

import pytest
from jinja2 import UndefinedError

from landbridge.plan.ansible.inventory import inventory
from landbridge.rules import check
from tests.unit.racks.golden import GOLDEN, NAMES, ROOT, environment, loaded
from tests.unit.racks.plan import plan_text
from tests.unit.racks.roles import holds, host_variables, roles_of

REVIEW = ROOT / "docs" / "explanation" / "racks-read-against-sources.md"


@pytest.mark.parametrize("name", NAMES)
def test_the_plan_is_the_reviewed_one(name: str) -> None:
    written = (GOLDEN / f"{name}.txt").read_text()
    assert plan_text(environment(name)) == written, "python -m tests.unit.racks.golden, and review the difference"


def test_the_review_counts_the_lines_of_every_golden_file() -> None:
    """A plan with other lines has to be read against its sources again: docs/explanation/racks-read-against-sources.md."""
    rows = [
        line.split(" | ")
        for line in REVIEW.read_text().splitlines()
        if line.startswith(tuple(f"| {name} |" for name in NAMES))
    ]
    counted = {row[0].removeprefix("| "): [int(cell.rstrip(" |")) for cell in row[1:]] for row in rows}
    lines = {path.stem: sum(map(bool, path.read_text().splitlines())) for path in GOLDEN.iterdir()}
    assert {name: numbers[0] for name, numbers in counted.items()} == lines
    assert all(numbers[0] == sum(numbers[1:]) for numbers in counted.values())


def test_every_golden_file_has_an_example() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_has_no_error_and_two_values_to_replace(name: str) -> None:
    """Its gateway and its package repository are examples, which `check` says."""
    rules = sorted(finding.rule for finding in check(loaded(name)))
    assert rules == ["example-package-repository", "gateway-example-address"]


@pytest.mark.parametrize("name", NAMES)
def test_nodes_of_a_rack_get_the_roles_of_their_hardware(name: str) -> None:
    planned = inventory(environment(name))
    host = environment(name).host_addresses()
    node = next(name for name in host if name in planned["slurm_node"]["hosts"])
    roles = roles_of(planned, node)
    assert ("nvidia_driver" in roles) is (name != "dgx-os") is ("rdma" in roles)
    assert {"base", "node_health", "slurm_node"} <= set(roles) and "slurm_controller" not in roles
    assert "slurm_controller" in roles_of(planned, "ctl01") and "nvidia_driver" not in roles_of(planned, "ctl01")


def test_conditions_of_site_yml_have_no_unknown_variable() -> None:
    planned = inventory(environment("dgx-os"))
    assert "podman" in roles_of(planned, "dgx01")
    planned["all"]["vars"]["landbridge_container_engines"] = []
    assert "podman" not in roles_of(planned, "dgx01")
    with pytest.raises(UndefinedError):
        holds("a_variable_that_no_role_has", host_variables(planned, "dgx01"))


def test_a_rack_of_nvlink_72_has_one_imex_domain_and_no_fabric_manager() -> None:
    planned = inventory(environment("gb200-nvl72"))["_meta"]["hostvars"]
    lists = {tuple(host["nvidia_fabric_imex_nodes"]) for name, host in planned.items() if name.startswith("gb")}
    assert len(lists) == 1 and len(next(iter(lists))) == 18
    assert "fabricmanager" not in plan_text(environment("gb200-nvl72"))


def test_a_tray_with_64_kib_pages_gets_no_huge_page_unasked() -> None:
    """Huge pages of that kernel have 512 MiB. Source: NVIDIA Grace Performance Tuning Guide, Operating System Settings."""
    pages = {
        name: host_variables(inventory(environment(name)), host)["tuning_transparent_huge_pages"]
        for name, host in (("gb200-nvl72", "gb01"), ("dgx-h100-basepod", "dgx01"))
    }
    assert pages == {"gb200-nvl72": "madvise", "dgx-h100-basepod": "always"}
