"""APT sources of lab nodes, derived from real machines' sources."""

from pathlib import Path

import pytest

from sandbox.nspawn.errors import LabError
from sandbox.nspawn.host.apt_sources import Archives, archives, choose, parse_deb822, parse_one_line
from sandbox.nspawn.host.package_cache import configuration
from sandbox.nspawn.machine.image import sources

ONE_LINE = """
# deb http://mirror.test/old bookworm main
deb [signed-by=/usr/share/keyrings/x.gpg arch=amd64] https://mirror.test/debian bookworm main contrib
deb-src http://mirror.test/debian bookworm main
deb http://mirror.test/debian bookworm-updates main
deb http://security.test/debian-security bookworm-security main
deb http://vendor.test/apt tool main
"""

DEB822 = """
# a comment
Types: deb
# snapshot of some day
URIs: http://mirror.test/debian/
Suites: trixie trixie-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://security.test/debian-security
Suites: trixie-security
Components: main

Types: deb
Enabled: no
URIs: http://off.test/debian
Suites: trixie
Components: main
"""


def test_one_line_sources() -> None:
    chosen = choose(parse_one_line(ONE_LINE), "bookworm")
    assert chosen == Archives("https://mirror.test/debian", "http://security.test/debian-security")


def test_deb822_sources() -> None:
    chosen = choose(parse_deb822(DEB822), "trixie")
    assert chosen == Archives("http://mirror.test/debian", "http://security.test/debian-security")


def test_a_vendors_archive_is_not_debian() -> None:
    assert choose(parse_one_line("deb http://vendor.test/apt tool main"), "bookworm") is None


def machine(root: Path, release: str, listed: str) -> Path:
    (root / "etc/apt/sources.list.d").mkdir(parents=True)
    (root / "etc/os-release").write_text(release)
    (root / "etc/apt/sources.list").write_text(listed)
    return root


def test_a_debian_machine_uses_its_own_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEBIAN_MIRROR", raising=False)
    root = machine(tmp_path, "ID=debian\nVERSION_CODENAME=bookworm\n", ONE_LINE)
    assert archives(root).main == "https://mirror.test/debian"


def test_the_variable_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEBIAN_MIRROR", "http://other.test/debian/")
    assert archives(machine(tmp_path, "ID=debian\n", ONE_LINE)).main == "http://other.test/debian"


def test_a_machine_without_sources_is_an_error_that_names_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DEBIAN_MIRROR", raising=False)
    monkeypatch.setattr("sandbox.nspawn.host.apt_sources._builder_default", lambda: None)
    root = machine(tmp_path, 'ID=ubuntu\nVERSION_CODENAME=noble\nPRETTY_NAME="Ubuntu 24.04"\n', "")
    with pytest.raises(LabError, match="DEBIAN_MIRROR"):
        archives(root)


def test_nodes_speak_http_and_the_cache_fetches_by_https_if_the_host_does(tmp_path: Path) -> None:
    chosen = Archives("https://mirror.test/debian", "http://security.test/debian-security")
    lines = sources(chosen).splitlines()
    assert all("http://" in line and "https://" not in line for line in lines)
    assert "deb [check-valid-until=no] http://mirror.test/debian forky main" in lines
    text = configuration(tmp_path, 3142, [chosen.main, str(chosen.security)], None)
    assert "Remap-landbridge0: http://mirror.test/debian ; https://mirror.test/debian" in text
    assert "security.test" not in text
    assert "BindAddress: 127.0.0.1" in text
