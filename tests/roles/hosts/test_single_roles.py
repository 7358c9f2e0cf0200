"""Roles on a machine that its owner configured: the how-to page with the collection, and the owner's files after each role."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from tests.roles.ansible_run import connection, play, recap
from tests.roles.hosts.foreign.foreign_host import ADDRESS, HOST, OWNERS_FILES, ROOT, SITE, ForeignSite
from tests.unit.how_to.pages import steps, write

pytestmark = [pytest.mark.lab]

PAGE = ROOT / "docs/how-to/use-single-roles.md"
ACCOUNTS = {
    f"/etc/{name}{old}" for name in ("passwd", "group", "shadow", "gshadow", "subuid", "subgid") for old in ("", "-")
}
#: Roles that run on the machine one after the other, and their variables.
ROLES: Mapping[str, Mapping[str, Any]] = {
    "base": {
        "base_hosts": [{"name": "ctl01", "address": "10.20.0.11"}],
        "base_environment": {"MLFLOW_TRACKING_URI": "http://mlops01"},
        "base_packages": [],
    },
    "users": {"users_accounts": [{"name": "alice", "uid": 20001}], "users_create_homes": True},
    "tuning": {"tuning_limits": [{"domain": "*", "type": "-", "item": "nofile", "value": "65536"}]},
    "vendor_repository": {
        "vendor_repository_name": "vendor",
        "vendor_repository_uris": "file:/srv/packages",
        "vendor_repository_key_url": "file:///srv/packages/key.asc",
    },
    "hardening": {},
    "metadata_guard": {},
    "node_health": {"node_health_started": False},
    "node_verify": {},
    "node_actions": {},
    "mig": {"mig_started": False},
    "cloud_agent": {"cloud_agent_started": False},
    "slurm_job_environment": {},
    "slurm_adopt": {"slurm_adopt_wanted": False},
    "rdma": {"rdma_started": False},
    "job_credentials": {"job_credentials_region": "us-east-1", "job_credentials_started": False},
    "cloud_identity": {"cloud_identity_region": "us-east-1", "cloud_identity_key_secret": "site/slurm-key"},
    "cloud_metrics": {"cloud_metrics_region": "us-east-1", "cloud_metrics_secret": "site/node-metrics"},
    "podman": {"podman_users": [{"name": "alice", "uid": 20001, "subid": 1000000}]},
    "nfs_client": {"nfs_client_mounts": [{"mount": "/data", "export": "/srv/packages"}]},
}
#: Files of the owner or of the distribution that a role changes by intent: a block, a line, or accounts.
SHARED: Mapping[str, set[str]] = {
    "base": {"/etc/hosts", "/etc/environment"},
    "users": ACCOUNTS,
    # Its own file, which the page has written.
    "tuning": {"/etc/security/limits.d/60-tuning.conf"},
    # The package rdma-core adds the group rdma.
    "rdma": ACCOUNTS,
    "podman": {"/etc/subuid", "/etc/subgid"},
}
#: Roles that have nothing to write here: the owner has the repository, and pam_slurm_adopt is not wanted.
IDLE = {"vendor_repository", "slurm_adopt"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForeignSite]:
    lab = layout("landbridge-test-foreign")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE)
        foreign = ForeignSite(lab, tmp_path_factory.mktemp("foreign"))
        foreign.make()
        yield foreign
    finally:
        cleanup.down(lab)


@pytest.fixture(scope="module")
def followed(site: ForeignSite) -> list[str]:
    """Follow the page, and return the output of each command."""
    outputs = []
    for step in steps(PAGE):
        if step.command is None:
            write(step, site.folder)
            continue
        done = site.command(step.command)
        assert done.returncode == 0, f"{step.command}\n{done.stdout}"
        outputs.append(done.stdout)
    return outputs


def test_the_page_works_as_it_is_written(site: ForeignSite, followed: list[str]) -> None:
    *_, checked, done = followed
    assert recap(checked)[HOST]["failed"] == 0 and "+10.20.0.13 login1" in checked
    assert recap(done)[HOST]["changed"] > 0
    assert site.on_host("getent hosts login1 filer01").split() == ["10.20.0.13", "login1", "10.20.9.1", "filer01"]
    assert site.on_host(f"getent ahostsv4 {HOST}").split()[0] == "10.20.1.21"


def test_the_page_names_the_roles_that_run_alone_here() -> None:
    (sentence,) = re.findall(r"^In the tests these roles.*?\n\n", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert re.findall(r"`(\w+)`", sentence) == list(ROLES)


def digests(site: ForeignSite, name: str) -> dict[str, str]:
    """Return the digests after a role: path -> digest."""
    rows = (line.split(" ", 1) for line in site.on_host(f"cat /root/digests/{name}").splitlines())
    return {path: digest for digest, path in rows}


@pytest.fixture(scope="module")
def after(site: ForeignSite, followed: list[str]) -> Mapping[str, dict[str, str]]:
    """Run the roles, and return the digests after each; those of `owner` are from before the first."""
    site.on_host("mkdir /root/digests && digest > /root/digests/owner")
    tasks: list[dict[str, Any]] = []
    for name, variables in ROLES.items():
        tasks.append({"ansible.builtin.include_role": {"name": name}, "vars": dict(variables)})
        tasks.append({"ansible.builtin.shell": {"cmd": f"digest > /root/digests/{name}"}, "changed_when": False})
    hosts = {"all": {"vars": connection(site.lab), "hosts": {HOST: {"ansible_host": ADDRESS}}}}
    play(site.lab, site.folder, [{"hosts": "all", "gather_facts": False, "tasks": tasks}], hosts, timeout=900).good()
    return {name: digests(site, name) for name in ("owner", *ROLES)}


@pytest.mark.parametrize("role", ROLES)
def test_a_role_changes_no_file_of_the_owner(after: Mapping[str, dict[str, str]], role: str) -> None:
    names = list(after)
    before = after[names[names.index(role) - 1]]
    changed = {path for path, digest in before.items() if after[role].get(path) != digest}
    assert changed <= SHARED.get(role, set())
    assert (after[role] == before) == (role in IDLE)


def test_a_mirror_at_another_address_is_recognised_by_its_label(
    site: ForeignSite, after: Mapping[str, dict[str, str]]
) -> None:
    site.on_host("apt-get -qq update -o Dir::Etc::SourceList=/dev/null && digest > /root/digests/mirror")
    # No server has this address: the run would fail if the role used it.
    variables = {
        "vendor_repository_name": "nvidia-dcgm",
        "vendor_repository_uris": "http://192.0.2.1/compute/cuda/repos/debian13/x86_64/",
        "vendor_repository_key_url": "http://192.0.2.1/key.pub",
        "vendor_repository_label": "NVIDIA CUDA",
        "vendor_repository_refused": ["src:*nvidia*:any"],
    }
    hosts = {"all": {"vars": connection(site.lab), "hosts": {HOST: {"ansible_host": ADDRESS}}}}
    task = {"ansible.builtin.include_role": {"name": "vendor_repository"}, "vars": variables}
    played = play(site.lab, site.folder, [{"hosts": "all", "gather_facts": False, "tasks": [task]}], hosts).good()
    assert "file:/srv/packages/ has the repository" in played.one_line
    site.on_host("digest > /root/digests/labelled")
    assert digests(site, "labelled") == digests(site, "mirror")
    assert "570.1" in site.on_host("apt-cache policy nvidia-open")
    # A label of no configured repository: apt has no other source of these packages.
    assert site.on_host("apt-get indextargets --format '$(REPO_URI)' 'Label: NVIDIA DOCA'") == ""


def test_the_owners_files_are_as_they_were(site: ForeignSite, after: Mapping[str, dict[str, str]]) -> None:
    for path, text in OWNERS_FILES.items():
        present = site.on_host(f"cat {path}")
        assert present.startswith(text) if path == "/etc/environment" else present == text
    assert site.on_host("systemctl is-active site").strip() == "active"
    site.on_host("sshd -t && apt-get -qq --error-on=any update")
