"""Keys of package repositories: apt accepts one fingerprint, whatever key the vendor's address, or a mirror, gives at the first run."""

import hashlib
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from landbridge import yaml_text
from sandbox.nspawn.host.host_packages import find_program
from tests.roles.hosts.test_services import rendered

ROLES = Path(__file__).parents[3] / "ansible/roles"
CUDA, DEBIAN_13 = "EB693B3035CD5710E231E123A4B469963BF863CC", "02182E60104FCDC26EAE1B8597A5D4CB8793F200"
REPOSITORY = {
    "vendor_repository_name": "vendor",
    "vendor_repository_uris": "file:/repository",
    "vendor_repository_key_url": "",
}


def sources(folder: Path, **variables: Any) -> str:
    """Return the sources file of a vendor's repository."""
    given = {**REPOSITORY, **variables}
    folder = folder / "rendered"
    folder.mkdir(exist_ok=True)
    return rendered("vendor_repository", folder, given, ("repository.sources.j2", "vendor.sources", "{{ [1] }}"))[
        "vendor.sources"
    ]


def test_the_driver_and_dcgm_have_the_fingerprint_of_each_key() -> None:
    expected = {"3bf863cc.pub": CUDA, "8793F200.pub": DEBIAN_13}
    files = [(path, "nvidia_driver_system") for path in sorted((ROLES / "nvidia_driver/vars").glob("*-*.yml"))]
    files += [(path, "dcgm_system") for path in sorted((ROLES / "dcgm/vars").glob("*-*.yml"))]
    assert len(files) == 6
    for path, name in files:
        system: Mapping[str, Any] = yaml_text.load(path.read_text())[name]
        source = system.get("nvidia", system)
        assert source["fingerprint"] == expected[source["key"]], path
        # A file's name is the end of its key's fingerprint.
        assert source["fingerprint"].endswith(source["key"].removesuffix(".pub").upper())


def test_nvidias_own_repository_is_pinned_and_a_mirror_with_another_key_is_not(tmp_path: Path) -> None:
    own_file = ("nvidia-cuda.sources.j2", "own.sources", "{{ [1] }}")
    system = yaml_text.load((ROLES / "nvidia_driver/vars/Debian-13.yml").read_text())
    facts = {"ansible_facts": {"architecture": "x86_64"}, **system}
    key = "Signed-By: /etc/apt/keyrings/nvidia-cuda.asc"
    assert f"{key} {DEBIAN_13}\n" in rendered("nvidia_driver", tmp_path, facts, own_file)["own.sources"]
    mirrored = {**facts, "nvidia_driver_mirror": "http://m.example.org/"}
    assert f"{key}\n" in rendered("nvidia_driver", tmp_path, mirrored, own_file)["own.sources"]


def gpg(home: Path, *words: str) -> str:
    command = ["gpg", "--homedir", str(home), "--batch", "--quiet", "--yes", *words]
    return str(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@pytest.mark.skipif(None in (find_program("apt-get"), find_program("gpg")), reason="needs apt and gpg")
def test_apt_refuses_packages_signed_with_another_key_of_the_same_address(tmp_path: Path) -> None:
    for name in ("home", "repository", "state/lists/partial", "cache/archives/partial"):
        (tmp_path / name).mkdir(parents=True, mode=0o700)
    home, repository = tmp_path / "home", tmp_path / "repository"
    for name in ("vendor", "stranger"):
        gpg(home, "--passphrase", "", "--quick-generate-key", name, "ed25519", "sign", "never")
    fields = [line.split(":") for line in gpg(home, "--with-colons", "--list-keys", "vendor").splitlines()]
    fingerprint = next(field[9] for field in fields if field[0] == "fpr")
    # The address gives both keys at the first run.
    (tmp_path / "vendor.asc").write_text(gpg(home, "--armor", "--export"))
    (repository / "Packages").touch()
    digest = hashlib.sha256(b"").hexdigest()
    date = datetime.now(UTC).strftime("%a, %d %b %Y %H:%M:%S UTC")
    (repository / "Release").write_text(f"Suite: vendor\nDate: {date}\nSHA256:\n {digest} 0 Packages\n")

    def reads(signer: str, fingerprint: str) -> bool:
        gpg(
            home,
            "--local-user",
            signer,
            "--clearsign",
            "--output",
            str(repository / "InRelease"),
            str(repository / "Release"),
        )
        text = sources(tmp_path, vendor_repository_key_fingerprint=fingerprint)
        text = text.replace("/etc/apt/keyrings", str(tmp_path)).replace("file:/repository", f"file:{repository}")
        (tmp_path / "apt.sources").write_text(text)
        options = {
            "Dir::Etc::SourceList": tmp_path / "apt.sources",
            "Dir::Etc::SourceParts": "-",
            "Dir::State": tmp_path / "state",
            "Dir::Cache": tmp_path / "cache",
            "APT::Sandbox::User": "root",
        }
        words = [word for key, value in options.items() for word in ("-o", f"{key}={value}")]
        done = subprocess.run(
            ["apt-get", "update", "--error-on=any", *words], capture_output=True, text=True, check=False
        )
        return done.returncode == 0

    assert reads("vendor", fingerprint)
    assert not reads("stranger", fingerprint)
    assert reads("stranger", ""), "without a fingerprint any key of the file is accepted"
