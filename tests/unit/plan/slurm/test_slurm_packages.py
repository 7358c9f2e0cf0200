"""Building Slurm's packages: what is refused, what is asked of the machine, and a signature that apt's own tools accept."""

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
from landbridge.realise.slurm_packages.mirror import chosen
from landbridge.realise.slurm_packages.sign import sign

BYTES = b"slurm"
SHA256 = hashlib.sha256(BYTES).hexdigest()


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "archive/slurm.tar.gz"
    path.parent.mkdir()
    path.write_bytes(BYTES)
    return path


def test_an_archive_with_other_bytes_is_refused_and_both_checksums_are_told(archive: Path) -> None:
    assert checked(archive, SHA256) == archive
    with pytest.raises(PackagesError, match=SHA256):
        checked(archive, "0" * 64)


def test_a_fetched_archive_is_kept_only_when_it_is_the_one(archive: Path, tmp_path: Path) -> None:
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
    # A second time nobody is asked.
    assert fetch(address, SHA256, tmp_path / "kept").read_bytes() == BYTES


def test_a_version_that_nobody_knows_needs_an_archive_and_its_checksum(tmp_path: Path) -> None:
    order = PackageBuild("23.11", "trixie", "http://127.0.0.1:1")
    with pytest.raises(PackagesError) as refused:
        build(order, tmp_path / "out", tmp_path / "state", print)
    assert "--source FILE --sha256 SUM" in refused.value.fix
    assert not (tmp_path / "out").exists()


def test_everything_runs_in_a_system_that_is_thrown_away(tmp_path: Path) -> None:
    words = command(
        PackageBuild("24.11", "trixie", "http://mirror.example.org/debian"), tmp_path / "a.tar.gz", tmp_path / "out"
    )
    assert words[0] == "mmdebstrap"
    assert words[-3:] == ["trixie", "/dev/null", "deb http://mirror.example.org/debian trixie main"]


@pytest.mark.parametrize(
    ("printed", "found"),
    [
        ("Debian\tmain\thttp://mirror.example.org/debian/\n", "http://mirror.example.org/debian"),
        (
            "Docker\tstable\thttps://d.example.org/\nDebian\tmain\thttps://m.example.org/debian\n",
            "https://m.example.org/debian",
        ),
    ],
)
def test_the_archive_is_the_machines_own(printed: str, found: str) -> None:
    assert chosen(printed) == found


def test_a_machine_without_debian_has_to_be_told() -> None:
    with pytest.raises(PackagesError, match="no archive"):
        chosen("Ubuntu\tmain\thttp://archive.example.org/ubuntu/\n")


def test_the_signature_is_the_operators_own_and_stays_the_same_key(tmp_path: Path) -> None:
    release, key = tmp_path / "dists/slurm-24.11/Release", tmp_path / "key.asc"
    release.parent.mkdir(parents=True)
    release.write_text("Codename: slurm-24.11\n")
    # Not in the test's own folder: a socket's path may have 107 characters.
    with tempfile.TemporaryDirectory(prefix="lb-keys-") as folder:
        home = Path(folder) / "keys"
        sign(release, home, key)
        first = key.read_text()
        sign(release, home, key)
        assert (home.stat().st_mode & 0o777, key.read_text()) == (0o700, first)
    keyring = tmp_path / "key.gpg"
    subprocess.run(["gpg", "--batch", "--dearmor", "--output", keyring, key], check=True, timeout=300)
    words = ["gpgv", "--keyring", keyring, release.with_name("InRelease")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
