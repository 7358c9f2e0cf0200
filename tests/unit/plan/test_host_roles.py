"""Roles of the plan: one module for each, found by itself, as docs/how-to/add-a-host-service.md shows."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from landbridge.plan import roles
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.network.host_role import group_roles, groups, host_roles, site_of
from landbridge.plan.network.service_flows import service_flows
from landbridge.plan.site.firewall import firewall_rules
from landbridge.plan.site.link.flows import flow_expectations
from tests.unit.core.samples import ROOT, environment
from tests.unit.how_to.pages import steps

PAGE = ROOT / "docs/how-to/add-a-host-service.md"


@pytest.fixture
def with_new_role(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (module,) = (step for step in steps(PAGE) if step.file is not None)
    assert module.file == "landbridge/plan/roles/jupyter.py"
    (tmp_path / "jupyter.py").write_text(module.text)
    monkeypatch.setattr(roles, "__path__", [*roles.__path__, str(tmp_path)])
    importlib.invalidate_caches()
    for cache in (group_roles, host_roles, groups):
        cache.cache_clear()
    yield
    monkeypatch.undo()
    for cache in (group_roles, host_roles, groups):
        cache.cache_clear()


def test_a_module_has_the_name_of_a_role() -> None:
    known = {path.name for path in (ROOT / "ansible/roles").iterdir()}
    assert set(host_roles()) <= known


def test_a_role_that_defines_a_group_or_is_called_from_aws_is_not_in_a_folder_below() -> None:
    assert {name for name, role in host_roles().items() if role.group} == set(group_roles())
    chosen = site_of(environment())
    below = {name: role for name, role in host_roles().items() if name not in group_roles()}
    assert {name for name, role in below.items() if role.has_slurm_commands or list(role.from_aws(chosen))} == set()


def test_groups_and_their_places_are_unique() -> None:
    with_group = list(group_roles().values())
    assert len({role.group for role in with_group}) == len({role.place for role in with_group}) == len(with_group)


@pytest.mark.usefixtures("with_new_role")
def test_one_module_is_enough_for_a_host_service() -> None:
    chosen = environment()
    planned: dict[str, Any] = inventory(chosen)
    assert planned["jupyter"] == {"hosts": ["login01"], "vars": {"jupyter_port": 8000}}
    assert [rule.ports for rule in firewall_rules(chosen)["jupyter"]] == [("8000",)]
    assert ("jupyter", "8000") in {(flow.group, flow.ports) for flow in service_flows(chosen)}
    assert any(flow.to == "login01" and flow.port == 8000 for flow in flow_expectations(chosen))


def test_without_the_module_the_service_is_gone() -> None:
    assert "jupyter" not in groups()
    assert "jupyter" not in inventory(environment())
