"""Files of storage roles by distribution, and decisions of their modules, without a host."""

import configparser
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from landbridge import yaml_text
from tests.roles.hosts.test_services import rendered

ROLES = Path(__file__).parents[3] / "ansible/roles"
MODULE = ROLES / "nfs_client/library/nfs_mount_point.py"


def test_deepops_939_the_kernel_server_offers_the_clients_version_and_no_older_one(tmp_path: Path) -> None:
    exports = [{"path": "/export/home", "clients": ["10.20.0.0/16", "10.60.0.0/16"]}]
    texts = rendered(
        "nfs_server",
        tmp_path,
        {"nfs_server_exports": exports},
        ("nfs.conf.j2", "nfs.conf", "{{ [1] }}"),
        ("exports.j2", "exports", "{{ [1] }}"),
    )
    configuration = configparser.ConfigParser()
    configuration.read_string(texts["nfs.conf"])
    assert dict(configuration["nfsd"]) == {
        "threads": "64",
        "vers3": "n",
        "vers4.0": "n",
        "vers4.1": "y",
        "vers4.2": "y",
    }
    options = yaml_text.load((ROLES / "nfs_client/defaults/main.yml").read_text())["nfs_client_options"].split(",")
    assert {"vers=4.2", "hard", "nosuid", "nodev"} <= set(options) and any(
        option.startswith("nconnect=") for option in options
    )
    (line,) = [line for line in texts["exports"].splitlines() if line.startswith("/")]
    flags = "(rw,sync,no_subtree_check,root_squash)"
    assert line == f"/export/home 10.20.0.0/16{flags} 10.60.0.0/16{flags}"


@pytest.mark.parametrize(
    ("family", "packages"),
    [
        ("Debian", ["lustre-client-modules-dkms", "lustre-client-utils"]),
        ("RedHat", ["kmod-lustre-client", "lustre-client"]),
    ],
)
def test_lustre_has_the_package_names_of_each_distribution(family: str, packages: list[str]) -> None:
    """Ubuntu is in Debian's family; EL 9 was not tested."""
    variables = yaml_text.load((ROLES / f"lustre_client/vars/{family}.yml").read_text())
    assert variables == {"lustre_client_distribution_packages": packages}


def test_nfs_has_the_package_names_of_each_distribution() -> None:
    """EL 9 was not tested; Ubuntu is in Debian's family."""

    def names(role: str, family: str) -> Any:
        return yaml_text.load((ROLES / role / f"vars/{family}.yml").read_text())

    assert names("nfs_client", "Debian") == {"nfs_client_distribution_packages": ["nfs-common"]}
    assert names("nfs_client", "RedHat") == {"nfs_client_distribution_packages": ["nfs-utils"]}
    debian, red_hat = (names("nfs_server", family)["nfs_server_distribution"] for family in ("Debian", "RedHat"))
    assert debian["kernel"] == {"packages": ["nfs-kernel-server"], "service": "nfs-kernel-server"}
    assert red_hat["kernel"] == {"packages": ["nfs-utils"], "service": "nfs-server"}
    assert debian.keys() == red_hat.keys()


def test_lustres_repository_and_mounts(tmp_path: Path) -> None:
    repository = {
        "uris": "https://mirror.example.org/lustre/",
        "suites": "noble",
        "components": "main",
        "signed_by": "/k.asc",
    }
    mounts = [{"source": "10.0.0.1@o2ib:/fs", "mount": "/lustre-1/fs"}]
    name = "{{ item.mount[1:] | replace('-', '\\\\x2d') | replace('/', '-') }}.mount"
    texts = rendered(
        "lustre_client",
        tmp_path,
        {"lustre_client_repository": repository, "lustre_client_mounts": mounts},
        ("lustre.sources.j2", "lustre.sources", "{{ [1] }}"),
        ("lustre.mount.j2", name.replace("\\\\", "\\"), "{{ lustre_client_mounts }}"),
    )
    lines = texts["lustre.sources"].splitlines()[1:]
    assert lines == [
        "Types: deb",
        "URIs: https://mirror.example.org/lustre/",
        "Suites: noble",
        "Components: main",
        "Signed-By: /k.asc",
    ]
    (unit,) = [text for name, text in texts.items() if name.endswith(".mount")]
    assert "What=10.0.0.1@o2ib:/fs\nWhere=/lustre-1/fs\nType=lustre\nOptions=noatime,flock,nosuid,nodev\n" in unit


def place(folder: Path, *, check: bool = False, **options: Any) -> dict[str, Any]:
    """Run the module as Ansible does, with a separate folder of homes and passwd file."""
    defaults = {"path": str(folder / "home"), "source": "nfs01:/export/home", "passwd": str(folder / "passwd")}
    data = json.dumps({"ANSIBLE_MODULE_ARGS": {**defaults, **options, "_ansible_check_mode": check}})
    completed = subprocess.run([sys.executable, str(MODULE)], input=data, capture_output=True, text=True, check=False)
    return dict(json.loads(completed.stdout))


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """Create the files of a host with the homes of an operator and of alice, and an account without a home."""
    home = tmp_path / "home"
    (home / "operator/.ssh").mkdir(parents=True, mode=0o700)
    (home / "operator/.ssh/authorized_keys").write_text("ssh-ed25519 AAAA\n")
    (home / "alice").mkdir()
    (home / "lost+found").mkdir()
    lines = ["root:x:0:0:root:/root:/bin/bash"]
    lines += [
        f"{name}:x:{uid}:{uid}::{home}/{name}:/bin/bash"
        for name, uid in (("operator", 1000), ("alice", 20001), ("ghost", 9))
    ]
    (tmp_path / "passwd").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_homes_that_would_be_hidden_are_reported_and_nothing_changes(host: Path) -> None:
    before = (host / "passwd").read_text()
    refused = place(host)
    assert refused["failed"] is True and "would be out of reach: operator, alice. Nothing was mounted" in refused["msg"]
    assert "out of reach: operator. " in place(host, accounts=["alice"])["msg"]
    assert place(host, accounts=["alice", "operator"])["hidden"] == ["alice", "operator"]
    assert (host / "passwd").read_text() == before
    assert "is more than 0 MiB" in place(host, homes=str(host / "local"), most_mib=0)["msg"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to lock the passwd file")
def test_homes_are_copied_and_accounts_changed_once(host: Path) -> None:
    local = host / "local"
    assert place(host, check=True, accounts=["alice"], homes=str(local))["moved"] == ["operator"]
    assert not local.exists()
    moved = place(host, accounts=["alice"], homes=str(local))
    assert (moved["changed"], moved["moved"], moved["hidden"]) == (True, ["operator"], ["alice"])
    assert (local / "operator/.ssh/authorized_keys").read_text() == "ssh-ed25519 AAAA\n"
    assert (local / "operator/.ssh").stat().st_mode & 0o777 == 0o700
    # The original homes still exist, and other accounts have not changed.
    assert (host / "home/operator/.ssh/authorized_keys").exists()
    lines = (host / "passwd").read_text().splitlines()
    assert lines[1] == f"operator:x:1000:1000::{local}/operator:/bin/bash"
    assert lines[2].split(":")[5] == f"{host}/home/alice"
    second_run = place(host, accounts=["alice"], homes=str(local))
    assert (second_run["changed"], second_run["moved"]) == (False, [])
