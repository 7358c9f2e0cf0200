"""Archive of roles: its content, and equal bytes on every machine."""

import io
import os
import re
import shutil
import stat
import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docs.role_pages import uses
from landbridge import yaml_text
from landbridge.node_image import Bundle, bundle, roles_used, steps

ROOT = Path(__file__).parents[3]


def names(archive: Bundle) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(archive.content)) as opened:
        return {entry.name: entry for entry in opened.getmembers()}


def copied(folder: Path) -> Path:
    for part in ("ansible", "examples/digits"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_it_holds_the_roles_that_the_playbook_uses_and_no_others() -> None:
    entries = names(bundle(ROOT, {}, {}))
    roles = {name.split("/")[2] for name in entries if name.startswith("ansible/roles/")}
    expected = {
        "apptainer",
        "base",
        "cloud_agent",
        "cloud_identity",
        "cloud_metrics",
        "cloud_storage",
        "dataset_cache",
        "dcgm",
        "dcgm_exporter",
        "efa",
        "efs_utils",
        "gdrcopy",
        "nccl_tests",
        "nvidia_container_toolkit",
        "nvidia_driver",
        "nvidia_fabric",
        "enroot_pyxis",
        "job_credentials",
        "log_shipper",
        "lustre_client",
        "metadata_guard",
        "nfs_client",
        "node_actions",
        "node_exporter",
        "node_health",
        "node_restart",
        "node_verify",
        "podman",
        "python_runtime",
        "slurm_adopt",
        "slurm_common",
        "slurm_job_environment",
        "slurm_node",
        "training_runtime",
        "tuning",
        "users",
        "vendor_repository",
    }
    assert roles == expected
    assert {"run.sh", "vars.json", "settings.sh", "ansible/playbooks/node_image.yml"} <= set(entries)
    assert not [name for name in entries if name.endswith((".md", ".pyc"))]
    assert entries["run.sh"].mode & stat.S_IXUSR and not entries["vars.json"].mode & stat.S_IXUSR


def test_clock_owner_and_permissions_of_the_checkout_are_no_part_of_it(tmp_path: Path) -> None:
    first = bundle(ROOT, {"b": 1, "a": 2}, {})
    other = copied(tmp_path)
    for path in other.rglob("*"):
        os.utime(path, (0, 0))
        if path.is_file():
            path.chmod(path.stat().st_mode & ~(stat.S_IRWXG | stat.S_IRWXO))
    assert bundle(other, {"a": 2, "b": 1}, {}).sha256 == first.sha256
    assert {(entry.mtime, entry.uid, entry.uname) for entry in names(first).values()} == {(0, 0, "")}


@pytest.mark.parametrize(
    "change", ["ansible/roles/base/tasks/main.yml", "examples/digits/train.py", "ansible/playbooks/node_image.yml"]
)
def test_a_changed_file_is_another_archive(tmp_path: Path, change: str) -> None:
    before = bundle(copied(tmp_path), {}, {})
    (tmp_path / change).write_text((tmp_path / change).read_text() + "\n# another\n")
    assert bundle(tmp_path, {}, {}).sha256 != before.sha256


def test_a_changed_readme_does_not_change_the_archive(tmp_path: Path) -> None:
    before = bundle(copied(tmp_path), {}, {})
    (tmp_path / "ansible/roles/base/README.md").write_text("other words")
    assert bundle(tmp_path, {}, {}).sha256 == before.sha256


@settings(deadline=None)  # it starts a shell
@given(st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=30))
def test_a_setting_is_one_word_to_the_shell(value: str) -> None:
    archive = bundle(ROOT, {}, {"APT_PROXY": value})
    with tarfile.open(fileobj=io.BytesIO(archive.content)) as opened:
        written = opened.extractfile("settings.sh")
        assert written is not None
        text = written.read().decode()
    import shlex

    assert shlex.split(text) == [f"APT_PROXY={value}"]


def test_the_file_is_written_once(tmp_path: Path) -> None:
    archive = Bundle(b"content")
    path = archive.file(tmp_path / "made")
    assert path.read_bytes() == b"content" and archive.sha256 in path.name
    path.write_bytes(b"theirs")
    assert archive.file(tmp_path / "made").read_bytes() == b"theirs"
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_roles_that_a_playbook_uses_are_followed(tmp_path: Path) -> None:
    for role, task in (
        ("one", "include_role: {name: two}"),
        ("two", "- ansible.builtin.import_role:\n    name: four"),
        ("three", "debug:"),
        ("four", "debug: # three"),
    ):
        (tmp_path / "roles" / role / "tasks").mkdir(parents=True)
        (tmp_path / "roles" / role / "tasks/main.yml").write_text(task)
    (tmp_path / "play.yml").write_text("roles: [one]")
    assert [path.name for path in roles_used(tmp_path / "play.yml", tmp_path / "roles")] == ["four", "one", "two"]


def test_the_document_fits_and_compares_before_it_unpacks() -> None:
    archive = Bundle(b"x")
    text = steps("lab-node", archive, bucket="b" * 63, account="123456789012", timeout_minutes=120)
    assert len(text) < 16_000  # CreateComponent takes no more
    for phase in yaml_text.load(text)["phases"]:
        for step in phase["steps"]:
            script = step["inputs"]["commands"][0] if step["action"] == "ExecuteBash" else ""
            if "tar -xf" in script:
                assert script.startswith("set -eu\n") and script.index("sha256sum --check") < script.index("tar -xf")


def test_a_cloud_node_has_every_role_of_a_node_on_prem() -> None:
    """Check that the node image has every role of on-prem GPU nodes, except those that only metal needs."""
    groups = {"all", "nfs_client", "slurm_node"}
    # node_health: it compares a host with its platform; instances have none, and a broken instance is replaced.
    # scratch: cloud_storage joins an instance's disks to one folder for jobs at every boot.
    # hardening: the security group restricts access to an instance.
    # rdma, gds, mig: instances have EFA instead of InfiniBand, and their GPUs are not divided.
    # roles_anywhere: instances have the credentials of their role.
    # site_tls: the jobs' prolog writes the CA's certificates, which slurm.conf has.
    only_on_metal = {"node_health", "scratch", "hardening", "rdma", "gds", "mig", "roles_anywhere", "site_tls"}
    required = {role for role, use in uses().items() if groups & set(use.groups)}
    used = {path.name for path in roles_used(ROOT / "ansible/playbooks/node_image.yml", ROOT / "ansible/roles")}
    assert {"base", "slurm_node", "training_runtime"} <= required and required - only_on_metal <= used


def test_the_archive_has_every_task_file_and_role_that_the_playbook_includes(tmp_path: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(bundle(ROOT, {}, {}).content)) as archive:
        names = set(archive.getnames())
        archive.extractall(tmp_path, filter="data")
    playbook = tmp_path / "ansible/playbooks/node_image.yml"
    included = re.findall(r"include_tasks:\s*(\S+)", playbook.read_text())
    assert included and all((playbook.parent / name).is_file() for name in included), included
    for role in ("nvidia_driver", "nvidia_fabric", "dcgm", "efa", "gdrcopy", "nccl_tests"):
        assert f"ansible/roles/{role}/tasks/main.yml" in names
