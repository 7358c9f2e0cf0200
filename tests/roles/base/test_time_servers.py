"""Role base's tasks for chrony, run by Ansible on files of a folder: the owner's chrony.conf stays."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from landbridge import yaml_text
from tests.roles.ansible_run import recap

ROLE = Path(__file__).parents[3] / "ansible/roles/base"
OWNERS = """\
# Clock of the machine room
server ntp1.example.org iburst prefer
confdir /etc/chrony/conf.d
driftfile /var/lib/chrony/chrony.drift
makestep 1 3
"""
EARLIER = """\
# Ansible managed
server 10.20.0.5 iburst
server 10.20.0.6 iburst
driftfile /var/lib/chrony/chrony.drift
ntsdumpdir /var/lib/chrony
makestep 1.0 3
rtcsync
leapsectz right/UTC
"""
DISTRIBUTIONS = "pool 2.debian.pool.ntp.org iburst\npool ntp.ubuntu.com iburst maxsources 4\n"
OTHER_ROLE = "# Ansible managed\nserver 10.9.0.1\n"
#: chrony.conf before and after, by case. The path of the sources' directory is added to the second.
CASES = {
    "owner": (OWNERS, OWNERS),
    "distribution": (OWNERS + DISTRIBUTIONS, OWNERS),
    "other-role": (OWNERS + OTHER_ROLE, OWNERS + OTHER_ROLE),
    "earlier-release": (EARLIER, EARLIER.partition("iburst\n")[2].partition("iburst\n")[2]),
    "no-chrony": ("", ""),
}


def tasks() -> list[dict[str, Any]]:
    """Return the tasks for chrony's own files. The service and its drop-in are not touched."""
    main = yaml_text.load((ROLE / "tasks/main.yml").read_text())
    (block,) = [task for task in main if task["name"] == "Configure time synchronisation"]
    return [dict(task) for task in block["block"] if "base_chrony_service" not in str(task)]


def test_only_the_line_for_the_roles_sources_is_added(tmp_path: Path) -> None:
    handler = {"name": "Restart chrony", "ansible.builtin.debug": {"msg": "restarted"}}
    play = {"hosts": "all", "gather_facts": False, "tasks": tasks(), "handlers": [handler]}
    (tmp_path / "play.yml").write_text(json.dumps([play]))
    for folder in ("library", "templates"):
        (tmp_path / folder).symlink_to(ROLE / folder)
    variables = {
        "base_time_servers": ["10.20.0.5"],
        "base_time_options": "iburst",
        "base_chrony_sources": f"{tmp_path}/{{{{ inventory_hostname }}}}/sources.d",
        "base_chrony_configuration": f"{tmp_path}/{{{{ inventory_hostname }}}}/chrony.conf",
    }

    def run(*words: str) -> set[bool]:
        """Run the tasks for each case, and return whether something changed."""
        program = [str(Path(sys.executable).with_name("ansible-playbook")), "-i", ",".join(CASES), "-c", "local"]
        line = [*program, "-e", json.dumps(variables), str(tmp_path / "play.yml"), *words]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
        return {counts["changed"] > 0 for counts in recap(done.stdout).values()}

    for name, (before, _) in CASES.items():
        (tmp_path / name).mkdir()
        if before:
            (tmp_path / name / "chrony.conf").write_text(before)
    run("--check")
    texts = {name: file.read_text() if (file := tmp_path / name / "chrony.conf").exists() else "" for name in CASES}
    assert texts == {name: before for name, (before, _) in CASES.items()}
    assert run() == {True}
    for name, (_, after) in CASES.items():
        assert (tmp_path / name / "chrony.conf").read_text() == f"{after}sourcedir {tmp_path}/{name}/sources.d\n"
        servers = (tmp_path / name / "sources.d/base.sources").read_text()
        assert servers == "# Ansible managed\nserver 10.20.0.5 iburst\n"
    assert run() == {False}
