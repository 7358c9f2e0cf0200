"""Timers that archive models, as the role site_timers gets them."""

from dataclasses import dataclass

from landbridge.environment import Environment
from landbridge.plan.roles.hosts.host_access import timer_host
from landbridge.plan.roles.hosts.site_timers import site_timers_variables


@dataclass(frozen=True, slots=True)
class ArchiveForm:
    """Timer that archives models: the data class of its bucket, and the tracking URI of the registry that it reads."""

    data_class: str
    uri: str


def archive_forms(environment: Environment) -> tuple[ArchiveForm, ...]:
    """Return the timers by the arguments of their command."""
    host = timer_host(environment)
    timers = site_timers_variables(environment, host).get("site_timers_timers", []) if host is not None else []
    return tuple(
        ArchiveForm(_option(timer["words"], "--class"), _option(timer["words"], "--tracking-uri"))
        for timer in timers
        if timer["words"][:2] == ["model", "archive"]
    )


def _option(words: list[str], name: str) -> str:
    return words[words.index(name) + 1]
