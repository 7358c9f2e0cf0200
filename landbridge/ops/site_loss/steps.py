"""Steps of the recovery in AWS and of the return to the site, with their order, fences and records. Pure."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from landbridge.catalog.site_loss import Place, RecoveryStep, Way, site_loss_facts
from landbridge.ops.site_loss.records import Progress


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """Step of one direction, with the names of the environment. `words`: a command that the drill runs; empty: an operator's."""

    name: str
    facts: RecoveryStep
    words: tuple[str, ...]
    command: str

    def to_dict(self, progress: Progress) -> dict[str, Any]:
        """Return plain data: the step, its duration in the lab, and what the records say about it."""
        measured = progress.step(self.name)
        return {
            "name": self.name,
            "text": self.facts.text,
            "command": self.command,
            "fences": self.facts.fences,
            "starts": self.facts.starts,
            "seconds": self.facts.seconds,
            "test": self.facts.test,
            "documented": self.facts.documented.model_dump(mode="json") if self.facts.documented is not None else None,
            "measured": measured.to_dict() if measured is not None else None,
        }


@dataclass(frozen=True, slots=True)
class WayDuration:
    """Duration of a direction: seconds of the steps that were measured, seconds that a vendor documents as the most for others, and
    the steps with neither. A run of this environment counts before the lab.
    """

    measured: Mapping[str, float]
    documented: Mapping[str, float]
    unknown: tuple[str, ...]

    @property
    def seconds(self) -> float:
        """Return the sum of the steps with a figure."""
        return round(sum(self.measured.values()) + sum(self.documented.values()), 3)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        figures = {"measured": dict(self.measured), "documented": dict(self.documented)}
        return {**figures, "unknown": list(self.unknown), "seconds": self.seconds}

    def __str__(self) -> str:
        figures = (
            *(f"{name} {seconds:g} s measured" for name, seconds in self.measured.items()),
            *(f"{name} at most {seconds:g} s documented" for name, seconds in self.documented.items()),
        )
        rest = f"; without a figure: {', '.join(self.unknown)}" if self.unknown else ""
        return f"{self.seconds:g} s ({', '.join(figures)}){rest}" if figures else f"unknown{rest}"


def way_duration(steps: Sequence[PlannedStep], progress: Progress) -> WayDuration:
    """Return the duration of a direction."""
    measured, documented, unknown = {}, {}, []
    for step in steps:
        times = progress.step(step.name)
        seconds = times.seconds if times is not None and times.seconds is not None else step.facts.seconds
        if seconds is not None:
            measured[step.name] = seconds
        elif step.facts.documented is not None:
            documented[step.name] = step.facts.documented.seconds
        else:
            unknown.append(step.name)
    return WayDuration(measured, documented, tuple(unknown))


def planned_steps(way: Way, names: Mapping[str, str]) -> tuple[PlannedStep, ...]:
    """Return the steps of a direction. `names`: values of the catalogue's words in braces."""
    steps = []
    for name, facts in site_loss_facts().steps[way].items():
        words = tuple(word.format_map(names) for word in facts.argv)
        steps.append(PlannedStep(name, facts, words, shlex.join(words) or facts.operator.format_map(names)))
    return tuple(steps)


def places(way: Way, steps: Sequence[PlannedStep], done: frozenset[str]) -> frozenset[Place]:
    """Return the places whose control plane can run when these steps are done. A step that starts one, and that is only begun,
    counts as done.
    """
    running: set[Place] = {"onprem"} if way == "recovery" else {"aws"}
    for step in steps:
        if step.name in done:
            running -= {step.facts.fences} if step.facts.fences else set()
            running |= {step.facts.starts} if step.facts.starts else set()
    return frozenset(running)


def next_step(steps: Sequence[PlannedStep], progress: Progress) -> PlannedStep | None:
    """Return the first step that has not ended; None after the last one."""
    return next((step for step in steps if step.name not in progress.done), None)


def refusal(way: Way, steps: Sequence[PlannedStep], progress: Progress, step: PlannedStep) -> str | None:
    """Return the reason for which a step may not begin now, or None."""
    expected = next_step(steps, progress)
    if expected is None or expected.name != step.name:
        before = expected.name if expected is not None else "none"
        return f"{step.name} follows other steps: the next one is {before}"
    starts = step.facts.starts
    others = places(way, steps, progress.done) - ({starts} if starts else set())
    if starts is not None and others:
        return f"the control plane of {', '.join(sorted(others))} is not fenced: two would run for one cluster"
    return None


def unknown(steps: Sequence[PlannedStep], names: Sequence[str]) -> Iterator[str]:
    """Yield the names that are not a step."""
    known = {step.name for step in steps}
    yield from (name for name in names if name not in known)
