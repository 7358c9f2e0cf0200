"""Ansible with Mitogen where it is installed: a persistent Python in each node instead of one start per task.

An accelerator of the sandbox, chosen by environment variables alone: roles and `landbridge configure` know nothing of it,
and several runs of the suite do without. Images are baked without it: a release that one apt task prefers (slurm_common's)
stays preferred in the persistent process, for packages that must not come from there. Measured on eight nodes that needed
no change, two busy cores: 65 s instead of 240 s.
"""

import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path


def fast_ansible_variables() -> Mapping[str, str]:
    """Variables for ansible-playbook and `landbridge configure`; none where Mitogen is not installed."""
    spec = find_spec("ansible_mitogen")
    if spec is None or spec.origin is None:
        return {}
    return {
        "ANSIBLE_STRATEGY": "mitogen_linear",
        # Plays that let hosts go on alone say so themselves: our folder's strategy of that name is found before Ansible's.
        "ANSIBLE_STRATEGY_PLUGINS": os.pathsep.join(
            str(folder)
            for folder in (Path(__file__).with_name("strategies"), Path(spec.origin).parent / "plugins" / "strategy")
        ),
        # Mitogen reads this one setting itself and overrides ssh's options by it; lab nodes are made anew every time.
        "ANSIBLE_HOST_KEY_CHECKING": "false",
        # It says on every run that strategies from elsewhere will go one day.
        "ANSIBLE_DEPRECATION_WARNINGS": "false",
    }
