"""Settings for Ansible with Mitogen, if installed: a persistent Python in each node instead of one start per task.

Only the sandbox uses it, through environment variables: roles and `landbridge configure` do not depend on it, and
several runs of the test suite do not use it. Images are built without it: a Debian release that one apt task prefers
(in slurm_common) stays preferred in the persistent process, also for packages that must not come from that release.
Measured on eight nodes without changes, two busy cores: 65 s instead of 240 s.
"""

import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path


def fast_ansible_variables() -> Mapping[str, str]:
    """Return variables for ansible-playbook and `landbridge configure`; none if Mitogen is not installed."""
    spec = find_spec("ansible_mitogen")
    if spec is None or spec.origin is None:
        return {}
    return {
        "ANSIBLE_STRATEGY": "mitogen_linear",
        # Plays with `strategy: free` need it from our folder, which is searched before Ansible's own strategies.
        "ANSIBLE_STRATEGY_PLUGINS": os.pathsep.join(
            str(folder)
            for folder in (Path(__file__).with_name("strategies"), Path(spec.origin).parent / "plugins" / "strategy")
        ),
        # Mitogen reads this setting itself and overrides ssh's options with it; lab nodes get new host keys every time.
        "ANSIBLE_HOST_KEY_CHECKING": "false",
        # Otherwise Ansible warns on every run that it will drop support for strategies from other collections.
        "ANSIBLE_DEPRECATION_WARNINGS": "false",
    }
