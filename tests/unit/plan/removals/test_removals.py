"""Removals of a change of the environment on each host: by the record, the plan, and the files that are there."""

import json
import re
import shutil
from collections.abc import Iterable
from functools import cache
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from landbridge.plan.owned_names import owned_names, wanted_roles
from tests.roles.jobs.program_module import ROLES, loaded
from tests.roles.names_of_roles import names
from tests.unit.plan.removals.settings import SETTINGS, Names, planned

host_record = loaded(ROLES / "base/library/host_record.py", "host_record")
#: Files of the host's owner, beside those of roles.
OWNERS = (
    "/etc/exports.d/site.exports", "/etc/haproxy/errors.http", "/etc/keepalived/keepalived.conf", "/etc/landbridge-of-the-site/README", "/etc/mlflow-of-the-site/environment",
    "/etc/prometheus/rules/site.yml", "/etc/ssh/sshd_config.d/50-site.conf", "/etc/systemd/system/data.mount", "/opt/site/bin/tool",
    "/opt/landbridge/envs/mlflow-of-the-site/README", "/opt/landbridge/locks/site/README",
    "/var/lib/landbridge/burst.sqlite", "/srv/object-store/internal/model",
)  # fmt: skip


class Host:
    """Folder with a host's files, and its record. A role writes each file that the plan has for the host."""

    def __init__(self, root: Path) -> None:
        self.root, self.record = str(root), dict[str, Any]()
        self.write(OWNERS)

    def write(self, paths: Iterable[str]) -> None:
        for path in paths:
            file = Path(self.root + path)
            file.parent.mkdir(parents=True, exist_ok=True)
            if link := re.fullmatch("/opt/landbridge/([^/]+)", path):
                self.build(link[1], file)
            else:
                file.touch()

    def build(self, name: str, link: Path) -> None:
        """Build a Python environment as the role python_runtime does, beside the one of an earlier release."""
        targets = [f"/opt/landbridge/envs/{name}-{build * 16}" for build in "0f"]
        self.write([f"{folder}/pyvenv.cfg" for folder in targets])
        self.write((f"/opt/landbridge/locks/{name}/requirements.lock",))
        link.unlink(missing_ok=True)
        link.symlink_to(targets[0])

    def run(self, owned: Names, fails: bool = False) -> list[str]:
        """Configure the host; return the units that ended. `fails`: a role fails after the others have written their files."""
        self.record = host_record.begun(self.record, owned)
        self.write(name.replace("*", "x") for name in owned["files"])
        if fails:
            return []
        removed = host_record.removed_files(self.record, owned, self.root)
        units: list[str] = host_record.ended_units(removed, self.record, owned)
        for folder in host_record.left_environments(removed, self.root):
            shutil.rmtree(self.root + folder)
        for path in removed:
            Path(self.root + path).unlink()
        self.record = host_record.ended(self.record, owned, self.root)
        return units

    def files(self) -> set[str]:
        return {str(path)[len(self.root) :] for path in Path(self.root).rglob("*") if not path.is_dir()}


@cache
def fresh(setting: str, name: str) -> tuple[set[str], dict[str, Any]]:
    """Return the files and the record of a host after one run."""
    with TemporaryDirectory() as folder:
        host = Host(Path(folder))
        host.run(planned(setting)[name])
        return host.files(), host.record


@pytest.mark.parametrize("first", SETTINGS)
def test_a_host_is_as_a_fresh_one_after_there_and_back(tmp_path: Path, first: str) -> None:
    tried: list[tuple[Names, Names]] = []
    for second in SETTINGS:
        before, after = planned(first), planned(second)
        for name in sorted(set(before) & set(after)):
            pair = (before[name], after[name])
            if before[name] == after[name] or pair in tried:
                continue
            tried.append(pair)
            host = Host(tmp_path / str(len(tried)))
            host.run(before[name])
            host.run(after[name])
            assert (host.files(), host.record) == fresh(second, name), (name, second)
            host.run(before[name])
            assert (host.files(), host.record) == fresh(first, name), (name, second)
            assert set(OWNERS) <= host.files()


def test_a_run_that_failed_has_recorded_what_it_wrote(tmp_path: Path) -> None:
    host = Host(tmp_path)
    before = host.files()
    host.run(planned("mover with anywhere")["nfs01"], fails=True)
    host.run(planned("plain")["nfs01"])
    assert {path for path in host.files() - before if "mover" in path or "anywhere" in path} == set()


@pytest.mark.parametrize(
    ("host", "first", "second", "units", "removed", "stays"),
    [
        (
            "nfs01", "mover with anywhere", "plain", ["landbridge-certificate.x", "landbridge-mover.service"],
            ["/etc/landbridge/mover.json", "/etc/landbridge/aws-profiles", "/etc/landbridge/anywhere/root.pem", "/etc/landbridge/anywhere/host.pem"],
            ["/opt/landbridge/bin/landbridge-certificate"],
        ),
        ("mlops01", "plain", "anywhere", [], ["/etc/mlflow/aws-credentials"], ["/etc/mlflow/environment"]),
        (
            "ctl01", "mover with anywhere", "plain", ["landbridge-certificate.x", r"var-lib-landbridge\x2dmover.mount"],
            ["/etc/landbridge/anywhere/slurm.pem"], ["/etc/landbridge/aws-credentials"],
        ),
        (
            "dgx01", "anywhere", "plain", ["landbridge-job-credentials.service"], ["/etc/landbridge/job-credentials.json"],
            ["/etc/landbridge/job.json"],
        ),
        (
            "mlops01", "monitoring", "monitoring on another host",
            ["landbridge-discovery.service", "prometheus-alertmanager.service", "prometheus.service"],
            ["/etc/prometheus/operator-password", "/etc/prometheus/host.pem"], ["/etc/default/prometheus-node-exporter", "/etc/prometheus/rules/site.yml"],
        ),
        ("ctl01", "plain", "no hardening", [], ["/etc/ssh/sshd_config.d/00-hardening.conf"], ["/etc/ssh/sshd_config.d/50-site.conf"]),
        ("mlops01", "model servers", "plain", ["landbridge-model-instances.service", "landbridge-serving.service", "haproxy.service"], ["/etc/haproxy/haproxy.cfg"], ["/etc/keepalived/keepalived.conf"]),
        ("ctl01", "directory", "plain", ["sssd.service"], ["/etc/sssd/sssd.conf"], []),
        ("login01", "site share", "plain", ["sets.mount"], [], ["/etc/systemd/system/data.mount", "/etc/systemd/system/home.mount"]),
        ("nfs01", "ganesha", "plain", ["nfs-ganesha.service"], ["/etc/ganesha/ganesha.conf"], ["/etc/exports.d/landbridge.exports"]),
        ("nfs01", "MLflow on another host", "plain", ["mlflow.service"], ["/etc/mlflow/environment", "/etc/mlflow/aws-credentials"], ["/etc/mlflow-of-the-site/environment"]),
        (
            "ctl01", "timers", "timers without the link", ["landbridge-timer-link.timer", "landbridge-timer-link.service"],
            ["/etc/landbridge/timers/gateways", "/etc/landbridge/timers/gateways.pub"], ["/etc/systemd/system/landbridge-timer-idle.timer", "/etc/landbridge/timers/access.json"],
        ),
        ("ctl01", "plain", "auth/slurm", ["munge.service"], ["/etc/munge/munge.key"], ["/etc/slurm/slurm.key"]),
        ("dgx01", "auth/slurm", "plain", [], ["/etc/slurm/slurm.key", "/etc/slurm/slurm.jwks"], ["/etc/munge/munge.key"]),
        (
            "nfs01", "MLflow on another host", "plain", [], ["/opt/landbridge/envs/mlflow-0000000000000000/pyvenv.cfg", "/opt/landbridge/locks/mlflow/requirements.lock"],
            ["/opt/landbridge/envs/mlflow-of-the-site/README"],
        ),
        ("ctl01", "timers", "plain", ["landbridge-host-access.socket", "prometheus-node-exporter.service"], ["/var/lib/landbridge-access/.ssh/authorized_keys"], ["/var/lib/landbridge/burst.sqlite"]),
    ],
)  # fmt: skip
def test_a_former_setting_ends(
    tmp_path: Path, host: str, first: str, second: str, units: list[str], removed: list[str], stays: list[str]
) -> None:
    machine = Host(tmp_path)
    machine.run(planned(first)[host])
    before = machine.files()
    ended = machine.run(planned(second)[host])
    assert set(units) - {"landbridge-certificate.x"} <= set(ended)
    assert set(removed) <= before and not set(removed) & machine.files()
    assert set(stays) <= machine.files()


def test_a_unit_that_a_role_of_the_plan_uses_does_not_end(tmp_path: Path) -> None:
    gateway, none = {"/etc/keepalived/keepalived.conf": "keepalived.service"}, {"files": [], "tables": [], "units": []}
    assert host_record.ended_units(gateway, {"ends": gateway}, none) == ["keepalived.service"]
    assert host_record.ended_units(gateway, {"ends": gateway}, {**none, "units": ["keep*"]}) == []


def test_a_link_is_removed_and_not_followed(tmp_path: Path) -> None:
    host = Host(tmp_path)
    host.write(("/srv/data/kept", "/etc/landbridge/models/a/one.json"))
    (tmp_path / "etc/landbridge/models/b").symlink_to(tmp_path / "srv/data")
    paths = host_record.removed_files({"files": ["/etc/landbridge/models/*"]}, {"files": []}, str(tmp_path))
    assert paths == ["/etc/landbridge/models/a/one.json", "/etc/landbridge/models/b"]


def test_conditions_are_those_of_the_play_and_of_all_blocks() -> None:
    play = {
        "hosts": "slurm_login:!nfs_server",
        "tasks": [
            {"when": ["a", "b"], "block": [{"ansible.builtin.include_tasks": "more.yml", "when": "c"}]},
            {"ansible.builtin.include_role": {"name": "mlflow", "tasks_from": "clients"}},
            {"ansible.builtin.include_role": {"name": "node_restart"}, "when": "later"},
        ],
    }
    more = [{"ansible.builtin.include_role": {"name": "burst"}, "when": "d or e"}]
    conditions = (
        "('slurm_login' in group_names and 'nfs_server' not in group_names) and (a) and (b) and (c) and (d or e)"
    )
    assert wanted_roles([play], {"more.yml": more}.__getitem__, names()) == f"['burst' if {conditions} else '']"


def test_names_of_the_table_that_no_removal_reaches() -> None:
    """Data, packages, their repositories, and patterns that may have files of the owner."""
    everything = owned_names(names(), names(), {})
    assert not [name for name in everything["files"] if name.startswith(("/etc/apt/", "/srv/", "/usr/lib/"))]
    starred = [name for name in everything["files"] if "*" in name]
    assert [
        name
        for name in starred
        if not any(word in name for word in ("landbridge", "hardening", "site-gateway", "object-store"))
    ] == []


def test_the_record_is_one_of_json() -> None:
    for first, second in permutations(("plain", "anywhere"), 2):
        record = host_record.ended(host_record.begun({}, planned(first)["ctl01"]), planned(second)["ctl01"])
        assert json.loads(json.dumps(record)) == record


@pytest.mark.parametrize(
    ("local", "planned_uid", "others", "state"),
    [
        ((20002, False), None, (), ["left", "open"]),
        ((20002, True), None, (), ["left"]),
        ((20002, True), 20002, (), ["returned"]),
        ((20002, True), 20009, (), ["reused"]),
        ((20002, False), 20002, (), []),
        # The owner's account of the same name, an account that the owner removed, and a user of another cluster.
        ((1500, False), None, (), []),
        (None, None, (), []),
        ((20002, False), None, ("bob",), []),
    ],
)
def test_a_user_who_left_is_locked_once(
    local: tuple[int, bool] | None, planned_uid: int | None, others: tuple[str, ...], state: list[str]
) -> None:
    accounts = {"root": (0, False), **({"bob": local} if local else {})}
    users = {"bob": planned_uid} if planned_uid else {}
    states = host_record.user_states(accounts, {"bob": 20002, "root": 0}, users, others)
    assert [name for name, members in states.items() if members] == state
    assert all(members in ([], ["bob"]) for members in states.values())
