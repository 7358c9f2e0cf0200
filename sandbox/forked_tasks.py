"""Shorten each task of Ansible, which runs in a process that is forked for it, ten thousands of times in all tests.

Such a process would import the plugins for filters and tests of Jinja and the action plugin of the task, and its garbage collection would
copy the pages of all objects of the process that it was forked from.
"""

import gc

from ansible.plugins.loader import action_loader, filter_loader, test_loader

#: Action plugins of most tasks; `normal` is that of modules without a plugin.
ACTIONS = (
    "normal",
    "command",
    "copy",
    "template",
    "assert",
    "set_fact",
    "debug",
    "include_vars",
    "package",
    "service",
    "fetch",
    "uri",
    "unarchive",
)


def prepare() -> None:
    """Import the plugins in this process, and take the present objects out of the garbage collection of this process and its forks."""
    for loader in (filter_loader, test_loader):
        for _ in loader.all():
            pass
    for name in ACTIONS:
        action_loader.get(f"ansible.builtin.{name}", class_only=True)
    gc.collect()
    gc.freeze()
