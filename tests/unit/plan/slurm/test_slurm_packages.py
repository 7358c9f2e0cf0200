"""Build of Slurm's packages: refused archives, the package sources of the host, and a signature that the tools of apt
accept."""

import hashlib
import subprocess
import tempfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from landbridge.realise.slurm_packages import PackageBuild, PackagesError, build
from landbridge.realise.slurm_packages.archive import checked, fetch
from landbridge.realise.slurm_packages.build import command
from landbridge.realise.slurm_packages.mirror import mirror_of
from landbridge.realise.slurm_packages.repository import Added, add
from landbridge.realise.slurm_packages.sign import sign
from sandbox.hardware.packages.deb import Package
from sandbox.hardware.packages.repository import index

BYTES = b"slurm"
SHA256 = hashlib.sha256(BYTES).hexdigest()


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "archive/slurm.tar.gz"
    path.parent.mkdir()
    path.write_bytes(BYTES)
    return path


def test_an_archive_with_a_wrong_checksum_is_refused(archive: Path) -> None:
    assert checked(archive, SHA256) == archive
    with pytest.raises(PackagesError, match=SHA256):
        checked(archive, "0" * 64)


def test_a_downloaded_archive_is_stored_only_with_the_right_checksum(archive: Path, tmp_path: Path) -> None:
    handler = partial(SimpleHTTPRequestHandler, directory=str(archive.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            address = f"http://127.0.0.1:{server.server_port}/slurm.tar.gz"
            with pytest.raises(PackagesError):
                fetch(address, "0" * 64, tmp_path / "kept")
            assert not (tmp_path / "kept/slurm.tar.gz").exists()
            assert fetch(address, SHA256, tmp_path / "kept").read_bytes() == BYTES
            with pytest.raises(PackagesError, match="404"):
                fetch(f"{address}.asc", SHA256, tmp_path / "kept")
        finally:
            server.shutdown()
    # The second time nothing is downloaded.
    assert fetch(address, SHA256, tmp_path / "kept").read_bytes() == BYTES


def test_an_unknown_version_needs_an_archive_and_its_checksum(tmp_path: Path) -> None:
    order = PackageBuild("23.11", "debian-13", "amd64", keyrings={"debian": __file__})
    with pytest.raises(PackagesError) as refused:
        build(order, tmp_path / "out", tmp_path / "state", print)
    assert "--source FILE --sha256 SUM" in refused.value.fix
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("system", "architecture", "sources"),
    [
        ("debian-12", "amd64", ["deb http://mirror.example.org/debian bookworm main"]),
        ("debian-13", "arm64", ["deb http://mirror.example.org/debian trixie main"]),
        (
            "ubuntu-24.04",
            "amd64",
            [
                "deb http://archive.ubuntu.com/ubuntu noble main universe",
                "deb http://archive.ubuntu.com/ubuntu noble-updates main universe",
            ],
        ),
        (
            "ubuntu-24.04",
            "arm64",
            [
                "deb http://ports.ubuntu.com/ubuntu-ports noble main universe",
                "deb http://ports.ubuntu.com/ubuntu-ports noble-updates main universe",
            ],
        ),
    ],
)
def test_the_build_runs_in_a_temporary_system_of_the_hosts(
    tmp_path: Path, system: str, architecture: str, sources: list[str]
) -> None:
    order = PackageBuild("24.11", system, architecture, {"debian": "http://mirror.example.org/debian"})
    words = command(order, tmp_path / "a.tar.gz", tmp_path / "out")
    suite = sources[0].split()[2]
    assert words[0] == "mmdebstrap" and f"--architectures={architecture}" in words
    assert words[words.index("/dev/null") - 1 :] == [suite, "/dev/null", *sources]
    assert f"--keyring=/usr/share/keyrings/{system.partition('-')[0]}-archive-keyring.gpg" in words
    (inside,) = (word for word in words if "inside.sh /build/a.tar.gz" in word)
    assert f" {suite} mpi_pmix auth_jwt " in inside and "job_submit_lua" in inside, "the required plugins are checked"


@pytest.mark.parametrize(
    ("system", "architecture", "message"),
    [("debian-11", "amd64", "not built for debian-11"), ("debian-13", "riscv64", "not built for the architecture")],
)
def test_an_unknown_system_or_architecture_is_an_error(system: str, architecture: str, message: str) -> None:
    with pytest.raises(PackagesError, match=message):
        command(PackageBuild("24.11", system, architecture), Path("a"), Path("out"))


def test_a_missing_keyring_names_its_package(tmp_path: Path) -> None:
    order = PackageBuild("24.11", "ubuntu-24.04", "amd64", keyrings={"ubuntu": str(tmp_path / "none.gpg")})
    with pytest.raises(PackagesError) as refused:
        build(order, tmp_path / "out", tmp_path / "state", print)
    assert refused.value.fix == "apt-get install ubuntu-keyring" and not (tmp_path / "out").exists()


def built(folder: Path, name: str, version: str, architecture: str) -> Path:
    """Return a folder as the script in the temporary system leaves it, with one package."""
    folder.mkdir(parents=True)
    package = Package(name, version, {"Architecture": architecture})
    data = package.archive()
    (folder / package.file_name).write_bytes(data)
    (folder / "Packages").write_text(index([(package, data)]))
    (folder / "release").write_text(version.partition("-")[0])
    return folder


def test_one_repository_has_all_systems_architectures_and_releases(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    builds = [
        ("noble", "24.11.5", "amd64"),
        ("noble", "24.11.5", "arm64"),
        ("bookworm", "24.11.5", "amd64"),
        ("noble", "24.11.6", "amd64"),
        ("noble", "24.11.5", "amd64"),
    ]
    for number, (codename, release, architecture) in enumerate(builds):
        version = f"{release}-1+landbridge1~{codename}"
        output = built(tmp_path / str(number), "slurm-smd", version, architecture)
        add(repository, Added(codename, release, architecture), output)
    text = (repository / "dists/noble/Release").read_text()
    assert "Codename: noble\n" in text and "Architectures: amd64 arm64\n" in text
    assert candidates(tmp_path / "n", repository, "noble", "amd64") == [
        "24.11.6-1+landbridge1~noble",
        "24.11.5-1+landbridge1~noble",
    ]
    assert candidates(tmp_path / "a", repository, "noble", "arm64") == ["24.11.5-1+landbridge1~noble"]
    assert candidates(tmp_path / "b", repository, "bookworm", "amd64") == ["24.11.5-1+landbridge1~bookworm"]


def candidates(folder: Path, repository: Path, suite: str, architecture: str) -> list[str]:
    """Return the versions that apt finds, newest first; each of their files exists."""
    for part in ("lists/partial", "cache/archives/partial"):
        (folder / part).mkdir(parents=True)
    (folder / "list").write_text(f"deb [trusted=yes] file:{repository} {suite} main\n")
    (folder / "status").touch()
    options = {
        "Dir::Etc::SourceList": folder / "list",
        "Dir::Etc::SourceParts": folder / "none",
        "Dir::State::Lists": folder / "lists",
        "Dir::State::Status": folder / "status",
        "Dir::Cache": folder / "cache",
        "APT::Architecture": architecture,
        "APT::Architectures": architecture,
        "APT::Sandbox::User": "root",
    }
    words = [word for key, value in options.items() for word in ("-o", f"{key}={value}")]
    subprocess.run(["apt-get", "-qq", *words, "update"], capture_output=True, check=True)
    shown = subprocess.run(["apt-cache", *words, "show", "slurm-smd"], capture_output=True, text=True, check=True)
    for line in shown.stdout.splitlines():
        if line.startswith("Filename: "):
            assert (repository / line.partition(": ")[2]).is_file(), line
    return [line.partition(": ")[2] for line in shown.stdout.splitlines() if line.startswith("Version: ")]


@pytest.mark.parametrize(
    ("printed", "archive_url"),
    [
        ("Debian\tmain\thttp://mirror.example.org/debian/\n", "http://mirror.example.org/debian"),
        (
            "Docker\tstable\thttps://d.example.org/\nDebian\tmain\thttps://m.example.org/debian\n",
            "https://m.example.org/debian",
        ),
    ],
)
def test_the_debian_archive_is_that_of_the_host(printed: str, archive_url: str) -> None:
    assert mirror_of(printed) == archive_url


def test_a_host_without_a_debian_archive_uses_debians_own() -> None:
    assert mirror_of("Ubuntu\tmain\thttp://archive.example.org/ubuntu/\n") is None


def test_the_signature_is_valid_and_the_key_stays_the_same(tmp_path: Path) -> None:
    release, key = tmp_path / "dists/slurm-24.11/Release", tmp_path / "key.asc"
    release.parent.mkdir(parents=True)
    release.write_text("Codename: slurm-24.11\n")
    # Not below tmp_path: the path of a socket may have 107 characters at most.
    with tempfile.TemporaryDirectory(prefix="lb-keys-") as folder:
        home = Path(folder) / "keys"
        sign(release, home, key)
        first = key.read_text()
        sign(release, home, key)
        assert (home.stat().st_mode & 0o777, key.read_text()) == (0o700, first)
    keyring = tmp_path / "key.gpg"
    subprocess.run(["gpg", "--batch", "--dearmor", "--output", keyring, key], check=True)
    words = ["gpgv", "--keyring", keyring, release.with_name("InRelease")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
