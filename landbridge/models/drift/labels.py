"""Labels that come late, joined with predictions by the id of the request."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from landbridge.models.canary.tallies import Tally


@dataclass(frozen=True, slots=True)
class LoggedPrediction:
    """Prediction of a request by a version, at a time in seconds."""

    request: str
    version: str
    at: float
    label: str


@dataclass(frozen=True, slots=True)
class LateLabel:
    """True label of a request."""

    request: str
    at: float
    label: str


@dataclass(frozen=True, slots=True)
class JoinedLabels:
    """Wrong and all labelled predictions by version. `unlabelled` waits; `late` came after the limit; `unknown` has no prediction."""

    tallies: Mapping[str, Tally]
    unlabelled: int
    late: int
    unknown: int


def joined(predictions: Iterable[LoggedPrediction], labels: Iterable[LateLabel], limit_seconds: float) -> JoinedLabels:
    """Return the join. A request counts once: the first prediction of its id, and the newest label, which corrects an older one.

    The order of the records does not matter.
    """
    first: dict[str, LoggedPrediction] = {}
    for prediction in predictions:
        known = first.get(prediction.request)
        if known is None or (prediction.at, prediction.version) < (known.at, known.version):
            first[prediction.request] = prediction
    newest: dict[str, LateLabel] = {}
    for label in labels:
        corrected = newest.get(label.request)
        if corrected is None or (label.at, label.label) > (corrected.at, corrected.label):
            newest[label.request] = label
    tallies: dict[str, Tally] = {}
    late = 0
    for request in first.keys() & newest.keys():
        prediction, true = first[request], newest[request]
        if true.at - prediction.at > limit_seconds:
            late += 1
            continue
        wrong = int(true.label != prediction.label)
        tallies[prediction.version] = tallies.get(prediction.version, Tally()) + Tally(wrong, 1)
    unlabelled = sum(request not in newest for request in first)
    return JoinedLabels(tallies, unlabelled, late, sum(request not in first for request in newest))
