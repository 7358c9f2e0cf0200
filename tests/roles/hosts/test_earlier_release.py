"""Whole files that earlier releases of roles wrote: their lines go, and those of an owner stay. Ansible runs the roles' tasks."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from landbridge import yaml_text
from tests.roles.ansible_run import recap

ROLES = Path(__file__).parents[3] / "ansible/roles"
VARIABLES = {
    "base_environment": {"AWS_USE_FIPS_ENDPOINT": "true", "MLFLOW_TRACKING_URI": "http://mlops01"},
    "nfs_server_exports": [{"path": "/export/home", "clients": ["10.20.0.0/16"]}],
    "nfs_server_owners_exports": {"stat": {"exists": True}},
}
#: Role and file, with the text of an earlier release and the owner's own lines.
FILES = {
    ("base", "/etc/environment"): (
        '# Ansible managed\nAWS_USE_FIPS_ENDPOINT="true"\nMLFLOW_TRACKING_URI="http://old"\n',
        '# Ansible managed\nhttp_proxy="http://proxy.example.org"\n',
    ),
    ("nfs_server", "/etc/exports"): (
        "# Ansible managed\n/export/home 10.20.0.0/16(rw,sync,no_subtree_check,root_squash)\n\n",
        "/srv/data 10.20.0.0/16(ro)\n/export/home 10.99.0.0/16(ro)\n",
    ),
}


def removals(role: str, path: str, folder: Path) -> list[dict[str, Any]]:
    """Return the role's task that removes lines of an earlier release, for each file of the folder."""
    pending, chosen = list(yaml_text.load((ROLES / role / "tasks/main.yml").read_text())), []
    while pending:
        task = pending.pop()
        pending += task.get("block", [])
        module = task.get("ansible.builtin.replace", {})
        if module.get("path") == path:
            files = [str(folder / f"{role}-{name}") for name in ("earlier", "owner", "both")]
            task.pop("notify", None)
            chosen.append({**task, "ansible.builtin.replace": {**module, "path": "{{ file }}"}, "loop": files})
    return [{**task, "loop_control": {"loop_var": "file"}} for task in chosen]


def test_lines_of_an_earlier_release_go_and_those_of_an_owner_stay(tmp_path: Path) -> None:
    tasks = []
    for (role, path), (earlier, owner) in FILES.items():
        for name, text in (("earlier", earlier), ("owner", owner), ("both", earlier + owner)):
            (tmp_path / f"{role}-{name}").write_text(text)
        tasks += removals(role, path, tmp_path)
    assert len(tasks) == len(FILES)
    (tmp_path / "play.yml").write_text(json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": tasks}]))
    program = str(Path(sys.executable).with_name("ansible-playbook"))
    line = [program, "-i", "localhost,", "-c", "local", "-e", json.dumps(VARIABLES), str(tmp_path / "play.yml")]
    for changes in (len(FILES), 0):
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
        assert recap(done.stdout)["localhost"]["changed"] == changes
    for (role, _), (_, owner) in FILES.items():
        texts = [(tmp_path / f"{role}-{name}").read_text() for name in ("earlier", "owner", "both")]
        assert texts == ["", owner, owner]
