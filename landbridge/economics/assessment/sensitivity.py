"""Sensitivity: the answer or the input whose change leads to another architecture."""

from collections.abc import Callable, Iterator

from landbridge.catalog.assessment import assessment_facts
from landbridge.economics.assessment.answers import Answers
from landbridge.economics.assessment.architecture import ArchitectureKind, Recommendation, recommend
from landbridge.economics.assessment.rates import PriceBasis, input_ranges
from landbridge.economics.assessment.sentences import Sentence, say, usd

_STEPS = 30


def sensitivity(answers: Answers, result: Recommendation) -> tuple[Sentence, ...]:
    """Return the nearest changes of single answers and inputs with another architecture; one sentence if there is none."""
    flips = [*_answers(answers, result), *_sites(answers, result)]
    inputs = list(_inputs(answers, result))
    if not flips and not any(sentence.rule == "flip-input" for sentence in inputs):
        text = (
            f"No change of one answer or input that was tried leads from {result.kind.value} to another architecture."
        )
        return (say("steady", text), *inputs)
    return (*flips, *inputs)


def _answers(answers: Answers, result: Recommendation) -> Iterator[Sentence]:
    values, use = assessment_facts().sensitivity, answers.utilisation

    def mean(factor: float) -> ArchitectureKind:
        # The peak keeps its ratio to the mean.
        changed = {"mean_gpus": use.mean_gpus * factor, "peak_gpus": use.peak_gpus * factor}
        if use.trace is not None:
            quantiles = {name: value and value * factor for name, value in use.trace.model_dump().items()}
            changed["trace"] = use.trace.model_copy(update=quantiles)  # type: ignore[assignment]
        return _kind_with_use(answers, changed)

    def hours(week: float) -> ArchitectureKind:
        return _kind_with_use(answers, {"hours_a_week": week})

    def baseline(share: float) -> ArchitectureKind:
        # The other shares keep their ratios.
        shares = answers.workloads.model_dump()
        rest = 100 - shares["baseline"]
        scaled = {name: value * (100 - share) / rest for name, value in shares.items()} if rest else shares
        changed = answers.workloads.model_copy(update={**scaled, "baseline": share})
        return recommend(answers.model_copy(update={"workloads": changed})).kind

    def cloud(factor: float) -> ArchitectureKind:
        return recommend(answers, cloud_factor=factor).kind

    def gpus(value: float) -> str:
        return f"the mean is {use.mean_gpus * value:,.1f} GPUs (now {use.mean_gpus:,.1f})"

    def week(value: float) -> str:
        return f"there is work in {value:,.0f} hours a week (now {use.hours_a_week:,.0f})"

    def steady(value: float) -> str:
        return f"baseline training is {value:.0f} percent of the work (now {answers.workloads.baseline:.0f})"

    yield from _nearest("mean_gpus", mean, 1.0, values["mean_gpus"], gpus, result)
    yield from _nearest("hours_a_week", hours, use.hours_a_week, values["hours_a_week"], week, result)
    yield from _nearest("baseline", baseline, answers.workloads.baseline, values["baseline"], steady, result)
    if result.rates.cloud is not None:
        rate = result.rates.cloud

        def price(value: float) -> str:
            return f"AWS costs {usd(rate.high * value)} an hour for the GPUs of a node (now {usd(rate.high)})"

        yield from _nearest("cloud_usd_hour", cloud, 1.0, values["cloud_usd_hour"], price, result)


def _kind_with_use(answers: Answers, changed: dict[str, float]) -> ArchitectureKind:
    return recommend(answers.model_copy(update={"utilisation": answers.utilisation.model_copy(update=changed)})).kind


def _nearest(
    name: str,
    kind_at: Callable[[float], ArchitectureKind],
    now: float,
    values: tuple[float, ...],
    words: Callable[[float], str],
    result: Recommendation,
) -> Iterator[Sentence]:
    """Yield the nearest value below and above the present one with each other architecture, found by bisection."""
    bases: tuple[PriceBasis, ...] = result.rates.owned.bases if result.rates.owned else ()
    for side in (sorted((v for v in values if v < now), reverse=True), sorted(v for v in values if v > now)):
        last, reported = now, {result.kind}
        for value in side:
            kind = kind_at(value)
            if kind not in reported:
                reported.add(kind)
                before, after = last, value
                for _ in range(_STEPS):
                    middle = (before + after) / 2
                    before, after = (before, middle) if kind_at(middle) is kind else (middle, after)
                text = f"If {words(after)}, the recommendation is {kind.value}."
                yield say("flip", text, bases, answer=name, value=after, architecture=kind.value)
            last = value


def _sites(answers: Answers, result: Recommendation) -> Iterator[Sentence]:
    """Yield each data class whose sites or regime decide the architecture."""
    for index, data_class in enumerate(answers.classes):
        free = data_class.model_copy(update={"regime": None, "sites": ("onprem", "aws")})
        if free == data_class:
            continue
        classes = tuple(free if i == index else other for i, other in enumerate(answers.classes))
        kind = recommend(answers.model_copy(update={"data": answers.data.model_copy(update={"classes": classes})})).kind
        if kind is not result.kind:
            text = f"If data of {data_class.name} could be at both sites, the recommendation is {kind.value}."
            yield say("flip", text, answer=f"data.classes.{data_class.name}", architecture=kind.value)
    for key, words in (("site_power_kw", "power of the site"), ("capital_usd", "capital")):
        if getattr(answers.constraints, key) is not None:
            free_limits = answers.constraints.model_copy(update={key: None})
            kind = recommend(answers.model_copy(update={"constraints": free_limits})).kind
            if kind is not result.kind:
                text = f"If the {words} were not limited, the recommendation is {kind.value}."
                yield say("flip", text, answer=f"constraints.{key}", architecture=kind.value)


def _inputs(answers: Answers, result: Recommendation) -> Iterator[Sentence]:
    """Yield the inputs whose dated range changes the architecture, else those that change the number of nodes."""
    new = result.sizing.new
    for name, row in input_ranges(answers).items():
        basis = (row.basis,)
        ends = {value: recommend(answers, {name: value}) for value in (row.low, row.high)}
        flips = {value: end.kind for value, end in ends.items() if end.kind is not result.kind}
        for value, kind in flips.items():
            text = f"With {row.title} of {value:,g}, the recommendation is {kind.value}."
            yield say("flip-input", text, basis, input=name, value=value, architecture=kind.value)
        nodes = {value: end.sizing.new for value, end in ends.items()}
        if not flips and set(nodes.values()) != {new}:
            words = " and ".join(f"{number} at {value:,g}" for value, number in nodes.items())
            text = f"New nodes by {row.title}: {words} (now {new})."
            yield say("input-range", text, basis, input=name, low=nodes[row.low], high=nodes[row.high])
