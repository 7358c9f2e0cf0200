"""Variables of roles for each distribution: their files, and the templates rendered with them."""

import configparser
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from landbridge import yaml_text

ROLES = Path(__file__).parents[3] / "ansible/roles"
#: Family's file first, then the distribution's own, as the roles read them.
SYSTEMS = {"Debian 13": ("Debian",), "Ubuntu 24.04": ("Debian", "Ubuntu"), "EL9": ("RedHat",)}
BASE = ("base", "hardening", "users")


def differing(role: str, system: str) -> dict[str, Any]:
    """Return a role's variables for a distribution."""
    files = [ROLES / role / f"vars/{name}.yml" for name in SYSTEMS[system]]
    # A distribution's own file replaces the family's, as with Ansible's first_found.
    variables: dict[str, Any] = {}
    for path in files:
        if path.exists():
            variables = dict(yaml_text.load(path.read_text()))
    return variables


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Return the templates that Ansible renders for each distribution, in one run."""
    folder = tmp_path_factory.mktemp("systems")
    plays = []
    for system in SYSTEMS:
        system_folder = folder / system.replace(" ", "-")
        system_folder.mkdir()
        files = [str(ROLES / role / part / "main.yml") for role in BASE for part in ("defaults", "vars")]
        variables = {"ansible_managed": "Ansible", "hardening_updates": "security", "base_time_servers": ["10.0.0.5"]}
        for role in BASE:
            variables |= differing(role, system)
        task = {
            "ansible.builtin.template": {
                "src": f"{ROLES}/hardening/templates/{{{{ item.src }}}}",
                "dest": f"{system_folder}/{{{{ item.name | default(item.dest | basename) }}}}",
            },
            "loop": "{{ [{'src': 'trial.sh.j2', 'name': 'trial'}, {'src': 'sshd.conf.j2', 'name': 'sshd.conf'}] + hardening_update_files }}",
        }
        plays.append(
            {
                "hosts": "localhost",
                "gather_facts": False,
                "vars_files": [path for path in files if Path(path).exists()],
                # Task variables, because vars_files override the variables of a play.
                "tasks": [{**task, "vars": variables}],
            }
        )
    book = folder / "play.yml"
    book.write_text(json.dumps(plays))
    program = Path(sys.executable).with_name("ansible-playbook")
    run = [str(program), "-i", "localhost,", "-c", "local", str(book)]
    completed = subprocess.run(run, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stdout
    return {system: folder / system.replace(" ", "-") for system in SYSTEMS}


@pytest.mark.parametrize("role", sorted(path.parents[1].name for path in ROLES.glob("*/vars/RedHat.yml")))
def test_a_role_has_the_same_variables_for_every_distribution(role: str) -> None:
    folder = ROLES / role / "vars"
    known = {path.stem: set(yaml_text.load(path.read_text()) or {}) for path in folder.glob("[A-Z]*.yml")}
    assert known["RedHat"] and all(keys == known["RedHat"] for keys in known.values()), known


@pytest.mark.parametrize(("system", "service"), [("Debian 13", "ssh"), ("Ubuntu 24.04", "ssh"), ("EL9", "sshd")])
def test_the_rollback_reloads_the_distributions_sshd(rendered: Mapping[str, Path], system: str, service: str) -> None:
    text = (rendered[system] / "trial").read_text()
    assert f"systemctl reload {service};" in text
    assert subprocess.run(["sh", "-n", str(rendered[system] / "trial")], check=False).returncode == 0
    firewalls = {"EL9": "firewalld"}.get(system, "ufw")
    assert f"for name in {firewalls}; do" in text


@pytest.mark.parametrize("system", ["Debian 13", "Ubuntu 24.04"])
def test_apt_holds_kernel_and_driver_back(rendered: Mapping[str, Path], system: str) -> None:
    patterns = re.findall(r'^    "(.*)";$', (rendered[system] / "60-hardening-held").read_text(), re.MULTILINE)
    # Canonical's names, and NVIDIA's.
    for name in (
        "linux-image-6.8.0-51-generic",
        "linux-modules-nvidia-580-server-open-generic",
        "nvidia-fabricmanager-580",
    ):
        assert any(re.match(expression, name) for expression in patterns), name
    periodic = (rendered[system] / "60-hardening-periodic").read_text()
    assert 'APT::Periodic::Unattended-Upgrade "1";' in periodic


@pytest.mark.parametrize("system", ["Debian 13", "Ubuntu 24.04"])
def test_awsome_1165_updates_of_libraries_restart_no_service_that_jobs_need(
    rendered: Mapping[str, Path], system: str
) -> None:
    program = """
        our %nrconf = (override_rc => {qr(^dbus) => 0});
        do $ARGV[0] or die $@ || $!;
        for my $name (@ARGV[1 .. $#ARGV]) {
            my ($match) = grep { $name =~ /$_/ } keys %{$nrconf{override_rc}};
            print defined $match ? $nrconf{override_rc}{$match} : 1, "\n";
        }
    """
    held_units = [
        f"{name}.service" for name in ("nvidia-fabricmanager", "nvidia-dcgm", "nvidia-imex", "munge", "slurmd", "dbus")
    ]
    other_units = [f"{name}.service" for name in ("ssh", "slurmdbd", "chrony")]
    file = str(rendered[system] / "60-hardening.conf")
    output = subprocess.run(
        ["perl", "-we", program, file, *held_units, *other_units], capture_output=True, text=True, check=True
    )
    assert output.stdout.split() == ["0"] * len(held_units) + ["1"] * len(other_units)
    assert output.stderr == ""


def test_dnf_holds_kernel_and_driver_back(rendered: Mapping[str, Path]) -> None:
    configuration = configparser.ConfigParser()
    configuration.read(rendered["EL9"] / "automatic.conf")
    assert (configuration["commands"]["upgrade_type"], configuration["commands"]["apply_updates"]) == (
        "security",
        "yes",
    )
    assert configuration["commands"]["reboot"] == "never"
    assert {"kernel*", "nvidia*", "slurm*"} <= set(configuration["base"]["excludepkgs"].split())


def test_sshd_has_the_same_settings_everywhere(rendered: Mapping[str, Path]) -> None:
    (text,) = {(folder / "sshd.conf").read_text() for folder in rendered.values()}
    assert "PasswordAuthentication no\n" in text and "PermitRootLogin prohibit-password\n" in text


def test_chrony_and_sssd_use_the_distributions_paths() -> None:
    paths = {system: differing("base", system)["base_chrony_configuration"] for system in SYSTEMS}
    assert paths == {
        "Debian 13": "/etc/chrony/chrony.conf",
        "Ubuntu 24.04": "/etc/chrony/chrony.conf",
        "EL9": "/etc/chrony.conf",
    }
    modes = {system: differing("users", system)["users_directory_mode"] for system in SYSTEMS}
    assert modes == {"Debian 13": "0640", "Ubuntu 24.04": "0600", "EL9": "0600"}
    selects = {system: bool(differing("users", system)["users_directory_select"]) for system in SYSTEMS}
    assert selects == {"Debian 13": False, "Ubuntu 24.04": False, "EL9": True}
