"""Each role alone on a machine that its owner configured: nothing outside its names changes, and a second run changes nothing."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from sandbox.hardware.packages.repository import publish
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from tests.roles.hosts import test_single_roles as single
from tests.roles.hosts.foreign import foreign_roles as cases
from tests.roles.hosts.foreign import foreign_runs as runs
from tests.roles.hosts.foreign import owner_commands
from tests.roles.hosts.foreign.foreign_host import GPU_SITE, OWNERS_FILES, ROOT, SERVICES_FILES, ForeignSite
from tests.roles.hosts.foreign.machine_snapshot import undeclared
from tests.roles.names_of_roles import merged

pytestmark = [pytest.mark.lab, pytest.mark.long, pytest.mark.timeout(3600)]
#: Roles whose service the owner uses already, with the file that each would replace.
REPLACING = {
    "model_gateway": "/etc/haproxy/haproxy.cfg",
    "prometheus": "/etc/prometheus/prometheus.yml",
    "node_exporter": "/etc/default/prometheus-node-exporter",
    "slurm_controller": "/etc/slurm/slurm.conf",
    "site_gateway": "/etc/frr/frr.conf",
    "nfs_server": "/etc/ganesha/ganesha.conf",
    "users": "/etc/sssd/sssd.conf",
}
#: Words of each refusal: what the owner has, and the variable that decides.
REFUSED = {
    **{role: (path, f"{role}_replace") for role, path in REPLACING.items()},
    "log_store": ("systemd-journal-remote.socket", "log_store_listen"),
    "slurm_database": ("/etc/slurm/slurmdbd.conf on this host is", "Move it"),
    "slurm_login": ("/etc/slurm/slurm.conf on this host is", "Move it"),
    "slurm_node": ("/etc/default/slurmd and /etc/slurm/slurm.conf on this host are", "Move them"),
}
CASES = {case.role: case for case in cases.CASES}
#: It prints the timers that it stopped.
STOP_TIMERS = """t=$(systemctl list-units --type=timer --state=active --plain --no-legend 'landbridge-*' | cut -d' ' -f1)
[ -z "$t" ] || { systemctl stop $t && echo $t; }"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForeignSite]:
    """Return the machine with its owner's services, and the installed collection."""
    lab = layout("landbridge-test-foreign")
    cleanup.down(lab)
    try:
        whole.up(lab, GPU_SITE)
        foreign = ForeignSite(lab, tmp_path_factory.mktemp("foreign"))
        foreign.remove_driver()
        foreign.make()
        foreign.make_services()
        runs.prepare(foreign)
        yield foreign
    finally:
        cleanup.down(lab)


@pytest.fixture(scope="module")
def known(site: ForeignSite) -> Mapping[str, Any]:
    """Return the plan's variables and the secrets."""
    return cases.planned(publish(site.lab), site.folder)


@pytest.fixture(scope="module")
def refused(site: ForeignSite, known: Mapping[str, Any]) -> Mapping[str, runs.RoleRun]:
    """Run the roles that would end a service of the owner, without the permission; the receiver of journals has its usual port."""
    planned = {role: cases.variables_of(CASES[role], known) for role in REFUSED}
    planned["log_store"] = cases.variables_of(cases.Case("log_store"), known)
    return {role: runs.run(site, role, variables, twice=False) for role, variables in planned.items()}


@pytest.fixture(scope="module")
def followed(
    site: ForeignSite, known: Mapping[str, Any], refused: Mapping[str, runs.RoleRun]
) -> Mapping[str, runs.RoleRun]:
    """Run every role, each after the other; those of `REPLACING` with the permission."""
    results: dict[str, runs.RoleRun] = {}
    last = refused["log_store"].last
    for case in cases.CASES:
        permission = {f"{case.role}_replace": True} if case.role in REPLACING else {}
        variables = cases.variables_of(case, known) | permission
        results[case.role] = runs.run(site, case.role, variables, case.before, first=last)
        # A timer that fires later would change files of its role while another one runs.
        last = None if site.on_host(STOP_TIMERS) else results[case.role].last
    return results


@pytest.mark.parametrize("role", REFUSED)
def test_a_role_refuses_what_would_end_a_service_of_the_owner(refused: Mapping[str, runs.RoleRun], role: str) -> None:
    failure = " ".join(refused[role].failure.split())
    assert all(word in failure for word in REFUSED[role])
    assert not any(refused[role].differences.values()), refused[role].differences


@pytest.mark.parametrize("role", CASES)
def test_a_role_changes_nothing_outside_its_names(followed: Mapping[str, runs.RoleRun], role: str) -> None:
    assert followed[role].failure == ""
    mine = merged(role)
    assert undeclared(followed[role].differences, {**mine, "files": [*mine.get("files", []), *CASES[role].names]}) == {}


@pytest.mark.parametrize("role", CASES)
def test_a_second_run_changes_nothing(followed: Mapping[str, runs.RoleRun], role: str) -> None:
    assert followed[role].failure == "" and followed[role].changed_again == []


def test_the_owners_files_are_as_they_were(site: ForeignSite, followed: Mapping[str, runs.RoleRun]) -> None:
    replaced = set(REPLACING.values())
    texts = {path: text for path, text in {**OWNERS_FILES, **SERVICES_FILES}.items() if path not in replaced}
    seen = {path: site.on_host(f"cat {owner_commands.MOVED.get(path, path)}") for path in texts}
    assert {path: text[: len(texts[path])] if path in SHARED else text for path, text in seen.items()} == texts
    assert site.on_host("systemctl is-active site munge systemd-journal-remote.socket").split() == ["active"] * 3
    site.on_host("sshd -t && apt-get -qq --error-on=any update")


#: Files to which a role adds lines.
SHARED = {"/etc/environment", "/etc/fstab"}


def test_every_role_runs_here_or_in_the_shorter_test() -> None:
    # `state_volume` needs a block device, which a container does not have; `node_restart` restarts the machine.
    assert {*CASES, *single.ROLES, "state_volume", "node_restart"} == {
        path.name for path in (ROOT / "ansible/roles").iterdir()
    }


def test_the_owners_key_of_munge_stays_if_the_role_has_none(followed: Mapping[str, runs.RoleRun]) -> None:
    assert "/etc/munge/munge.key" not in followed["slurm_common"].differences["changed"]


def test_python_runtime_refuses_the_name_of_a_folder_of_landbridge(
    site: ForeignSite, followed: Mapping[str, runs.RoleRun]
) -> None:
    last = runs.snapshot(site)
    variables = {"python_runtime_name": "tools", "python_runtime_lock": cases.LOCK}
    refused = runs.run(site, "python_runtime", variables, twice=False, first=last)
    assert "/opt/landbridge/tools is a folder of Landbridge: choose another name" in " ".join(refused.failure.split())
    assert not any(refused.differences.values()), refused.differences


def test_the_home_of_a_build_is_removed(site: ForeignSite, followed: Mapping[str, runs.RoleRun]) -> None:
    # ONNX Runtime of the model server writes an identifier into the home, as does MLflow.
    assert followed["model_server"].failure == followed["mlflow"].failure == ""
    assert site.on_host("find /opt/landbridge/envs -maxdepth 2 -name .home") == ""
    assert site.on_host("ls -d /root/.cache/Microsoft /root/.config/mlflow 2>/dev/null || true") == ""
