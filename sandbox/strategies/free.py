"""Ansible's strategy free with Mitogen: stands before Ansible's own where the sandbox accelerates a run.

A play that sets `strategy` ignores ANSIBLE_STRATEGY, but Ansible finds a plugin of the same name on ANSIBLE_STRATEGY_PLUGINS first.
"""

import ansible_mitogen.strategy
from ansible.plugins.loader import strategy_loader

from sandbox import forked_tasks, module_imports

module_imports.use()
forked_tasks.prepare()
_own = strategy_loader.get("ansible.builtin.free", class_only=True)


class StrategyModule(ansible_mitogen.strategy.StrategyMixin, _own):  # type: ignore[misc, valid-type]
    """Every host at its own pace, over a persistent Python in each."""
