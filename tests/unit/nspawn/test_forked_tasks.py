"""Plugins that each forked task of Ansible would import: loaded before the fork, by a real run of ansible-playbook."""

import json
import os
import subprocess
import sys
from pathlib import Path

from sandbox.demo.work import program
from sandbox.fast_ansible import fast_ansible_variables
from sandbox.forked_tasks import ACTIONS

#: Action plugin that returns the modules which its process had imported when the task began, and its frozen objects.
ACTION = """
import gc, sys
from ansible.plugins.action import ActionBase
class ActionModule(ActionBase):
    def run(self, tmp=None, task_vars=None):
        return {"changed": False, "imported": sorted(sys.modules), "frozen": gc.get_freeze_count()}
"""


def test_a_forked_task_has_the_plugins_and_no_objects_to_collect(tmp_path: Path) -> None:
    folder = tmp_path / "action_plugins"
    folder.mkdir()
    (folder / "imported.py").write_text(ACTION)
    tasks = [
        {"imported": {}, "register": "here"},
        {"copy": {"content": "{{ here | to_json }}", "dest": f"{tmp_path}/here.json"}},
    ]
    play = {"hosts": "all", "connection": "local", "gather_facts": False, "tasks": tasks}
    (tmp_path / "play.yml").write_text(json.dumps([play]))
    environment = {**os.environ, **fast_ansible_variables(), "ANSIBLE_ACTION_PLUGINS": str(folder)}
    words = [program("ansible-playbook"), "-i", "localhost,", str(tmp_path / "play.yml"), "-e"]
    words += [f"ansible_python_interpreter={sys.executable}"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    here = json.loads((tmp_path / "here.json").read_text())
    # Ansible adds a number to the names of modules with filters.
    assert any(name.startswith("ansible.plugins.filter.core") for name in here["imported"])
    assert {f"ansible_collections.ansible.builtin.plugins.action.{name}" for name in ACTIONS} <= set(here["imported"])
    assert here["frozen"] > 10_000
