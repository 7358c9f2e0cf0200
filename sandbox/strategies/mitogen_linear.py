"""Ansible's strategy linear with Mitogen: replaces Mitogen's plugin of this name, with a shorter start."""

import ansible_mitogen.strategy
from ansible.plugins.loader import strategy_loader

from sandbox import forked_tasks, module_imports

module_imports.use()
forked_tasks.prepare()
_linear = strategy_loader.get("ansible.builtin.linear", class_only=True)


class StrategyModule(ansible_mitogen.strategy.StrategyMixin, _linear):  # type: ignore[misc, valid-type]
    """All hosts task by task, over a persistent Python in each."""
