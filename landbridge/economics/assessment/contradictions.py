"""Contradictions between answers, as findings."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from landbridge.catalog import platforms, regimes, regions
from landbridge.catalog.assessment import assessment_facts
from landbridge.economics.assessment.answers import Answers
from landbridge.economics.assessment.residency import chosen_region, is_limited, permitted_sites
from landbridge.findings import DataPath, Finding, Severity, did_you_mean

#: Difference of the sum of the shares from 100 that is rounding.
_ROUNDING = 0.5


def contradictions(answers: Answers, given: Mapping[str, Any]) -> list[Finding]:
    """Return all contradictions. `given` is the valid part of the answers as data: a value that is not in it is a default,
    and is not compared with others.
    """
    return [*_workloads(answers, given), *_utilisation(answers, given), *_names(answers), *_sites(answers)]


def _workloads(answers: Answers, given: Mapping[str, Any]) -> Iterator[Finding]:
    shares = given.get("workloads")
    if isinstance(shares, Mapping) and shares:
        total = sum(value for value in answers.workloads.model_dump().values())
        if abs(total - 100) > _ROUNDING:
            message = f"the shares of the GPU hours have the sum {total:g}, not 100"
            yield Finding("shares-sum", message, ("workloads",), "change the shares so that their sum is 100")
    limited = [data_class.name for data_class in answers.classes if is_limited(data_class)]
    if answers.workloads.sensitive and not limited and "classes" not in _section(given, "data"):
        yield Finding(
            "sensitive-without-class",
            f"{answers.workloads.sensitive:g} percent of the work is sensitive, and no data class has a regime or a limited site",
            ("workloads", "sensitive"),
            "describe the data in data.classes, or set sensitive to 0",
        )
    elif limited and not answers.workloads.sensitive and len(limited) < len(answers.classes):
        message = f"no work is sensitive, and data class {limited[0]} has a regime or a limited site"
        fix = "write its share of the GPU hours in workloads.sensitive"
        yield Finding("class-without-work", message, ("workloads",), fix, Severity.WARNING)


def _utilisation(answers: Answers, given: Mapping[str, Any]) -> Iterator[Finding]:
    use, answered = answers.utilisation, _section(given, "utilisation")
    path: DataPath = ("utilisation",)
    if {"mean_gpus", "peak_gpus"} <= set(answered) and use.peak_gpus < use.mean_gpus:
        message = f"the peak of {use.peak_gpus:g} GPUs is below the mean of {use.mean_gpus:g}"
        yield Finding("peak-below-mean", message, (*path, "peak_gpus"), "exchange them, or correct one", related=())
    if use.trace is not None:
        points = [(name, value) for name, value in use.trace.model_dump().items() if value is not None]
        for (lower, below), (upper, above) in pairwise(points):
            if below > above:
                message = f"{lower} is {below:g} GPUs and {upper} is {above:g}: a higher quantile cannot be lower"
                yield Finding("trace-order", message, (*path, "trace", upper), "correct the quantiles")
        if "peak_gpus" in answered and points and points[-1][1] > use.peak_gpus:
            message = f"{points[-1][0]} is {points[-1][1]:g} GPUs, above the peak of {use.peak_gpus:g}"
            yield Finding("trace-above-peak", message, (*path, "trace", points[-1][0]), "correct peak_gpus")
    staff = answers.staff
    if staff.gpu_operations == "experienced" and "people" in _section(given, "staff") and staff.people == 0:
        message = "the staff has experience, and there are no people"
        yield Finding("experience-without-people", message, ("staff", "people"), "write the number of people")


def _names(answers: Answers) -> Iterator[Finding]:
    for path, name, known in (
        (("utilisation", "gpu"), answers.utilisation.gpu, tuple(assessment_facts().gpus)),
        *(
            (("constraints", "machines", index, "platform"), machine.platform, tuple(platforms()))
            for index, machine in enumerate(answers.constraints.machines)
        ),
        (("constraints", "region"), answers.constraints.region or "us-east-1", tuple(regions())),
    ):
        if name not in known:
            near = did_you_mean(name, known)
            fix = f'did you mean "{near}"?' if near else f"known: {', '.join(known)}"
            yield Finding("unknown-name", f"{name} is not known", path, fix)
    names = [data_class.name for data_class in answers.classes]
    for index, name in enumerate(names):
        if name != "unnamed" and name in names[:index]:
            fix = "give each data class a name of its own"
            yield Finding("duplicate-class", f"{name} is repeated", ("data", "classes", index, "name"), fix)


def _sites(answers: Answers) -> Iterator[Finding]:
    usable = answers.constraints.sites
    if answers.constraints.machines and "onprem" not in usable:
        fix = "add onprem to constraints.sites, or remove the machines"
        yield Finding("machines-without-site", "there are machines and no site", ("constraints", "machines"), fix)
    region = chosen_region(answers)
    for index, data_class in enumerate(answers.classes if answers.data.classes else ()):
        path: DataPath = ("data", "classes", index)
        permitted = permitted_sites(data_class, region)
        regime = regimes().get(data_class.regime or "")
        words = f" under {regime.title} ({regime.citation})" if regime is not None else ""
        if not permitted:
            message = f"data of class {data_class.name} may be at no site{words}: {', '.join(data_class.sites)} in {region} is not permitted"
            fix = "permit onprem, or choose a region of the regime"
            yield Finding("class-without-site", message, (*path, "sites"), fix, related=(("constraints", "region"),))
        elif not set(permitted) & set(usable):
            message = f"data of class {data_class.name} may be at {permitted[0]} only{words}, and the organisation uses {usable[0]} only"
            fix = f"add {permitted[0]} to constraints.sites"
            yield Finding("restricted-data-no-site", message, path, fix, related=(("constraints", "sites"),))
        elif data_class.at in ("onprem", "aws") and data_class.at not in permitted:
            message = f"data of class {data_class.name} is at {data_class.at}, where it may not be in {region}{words}"
            yield Finding(
                "data-at-forbidden-site", message, (*path, "at"), "move it before anything else", Severity.WARNING
            )


def _section(given: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = given.get(name)
    return section if isinstance(section, Mapping) else {}
