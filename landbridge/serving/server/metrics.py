"""Metrics of a model server in Prometheus's text format: requests, errors, latency, and distributions for drift.

Source: Prometheus documentation, "Exposition formats" (text-based format).
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from threading import Lock

#: Upper bounds of the latency histogram, in seconds.
LATENCY_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
#: Upper bounds of the largest difference between the outputs of two versions, and of the difference of their seconds.
DIFFERENCE_BOUNDS = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 10.0)
LATENCY_DIFFERENCE_BOUNDS = (-1.0, -0.1, -0.01, -0.001, 0.0, 0.001, 0.01, 0.1, 1.0)
#: Upper bounds of the confidence histogram: the greatest value of an answer's first output.
CONFIDENCE_BOUNDS = tuple(number / 10 for number in range(1, 11))


class Distribution:
    """Histogram with upper bounds. The caller holds the lock."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(self.bounds) + 1)
        self.sum = 0.0

    def add(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value

    def lines(self, name: str, labels: str, *, has_sum: bool = True) -> Iterable[str]:
        """Yield the lines of the text format. The sum of inputs is left out: with few requests it is the content of one."""
        for bound, total in zip((*map(str, self.bounds), "+Inf"), accumulate(self.counts), strict=True):
            yield f'{name}_bucket{{{labels},le="{bound}"}} {total}'
        if has_sum:
            yield f"{name}_sum{{{labels}}} {self.sum}"
        yield f"{name}_count{{{labels}}} {sum(self.counts)}"


class ServerMetrics:
    """Counters and histograms of one model version."""

    def __init__(
        self,
        service: str,
        model: str,
        version: str,
        features: Mapping[str, Sequence[float]],
        sliced: Mapping[tuple[str, str], Sequence[float]] | None = None,
        content: str = "",
    ) -> None:
        """Begin at zero. `features`: the upper bounds of each feature's histogram, of the manifest's reference; `sliced`: by slice too.

        `content`: digest of the manifest. A version that is deleted and created again has the same number and another digest.
        """
        self._lock = Lock()
        self._labels = f'service="{service}",model="{model}",version="{version}"'
        self._content = content
        self._requests: dict[str, int] = {}
        self._shadow: dict[tuple[str, str], int] = {}
        self._copies: dict[str, int] = {}
        self._shadow_seconds: dict[str, Distribution] = {}
        self._shadow_later: dict[str, Distribution] = {}
        self._shadow_differences: dict[tuple[str, str], Distribution] = {}
        self._latency = Distribution(LATENCY_BOUNDS)
        self._confidence = Distribution(CONFIDENCE_BOUNDS)
        self._features = {name: Distribution(bounds) for name, bounds in features.items()}
        self._sliced = {place: Distribution(bounds) for place, bounds in (sliced or {}).items()}
        self.in_flight = 0
        self.ready = False

    def request(self, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        with self._lock:
            self._requests[str(status)] = self._requests.get(str(status), 0) + 1
            self._latency.add(seconds)

    def predictions(
        self,
        confidences: Iterable[float],
        features: Mapping[str, Iterable[float]],
        sliced: Mapping[tuple[str, str], Iterable[float]] | None = None,
    ) -> None:
        """Count the confidence of predictions, and the values of features that the reference has, by slice too."""
        with self._lock:
            for value in confidences:
                self._confidence.add(value)
            for name, values in features.items():
                for value in values:
                    self._features[name].add(value)
            for place, values in (sliced or {}).items():
                for value in values if place in self._sliced else ():
                    self._sliced[place].add(value)

    def copied(self, status: int) -> None:
        """Count a copy that another model server sent, apart from requests of clients."""
        with self._lock:
            self._copies[str(status)] = self._copies.get(str(status), 0) + 1

    def shadowed(self, candidate: str, result: str) -> None:
        """Count a copy of a request for the shadow: agreed, differed, failed, refused, absent or dropped."""
        with self._lock:
            self._shadow[candidate, result] = self._shadow.get((candidate, result), 0) + 1

    def shadow_distances(
        self, candidate: str, differences: Mapping[str, float], seconds: float, candidate_seconds: float
    ) -> None:
        """Count the distances of a copy's answer: of each output, and of the seconds of the prediction."""
        with self._lock:
            bounds = LATENCY_DIFFERENCE_BOUNDS
            self._shadow_seconds.setdefault(candidate, Distribution(LATENCY_BOUNDS)).add(candidate_seconds)
            self._shadow_later.setdefault(candidate, Distribution(bounds)).add(candidate_seconds - seconds)
            for output, difference in differences.items():
                place = (candidate, output)
                self._shadow_differences.setdefault(place, Distribution(DIFFERENCE_BOUNDS)).add(difference)

    def enter(self, change: int) -> None:
        """Change the number of requests in flight."""
        with self._lock:
            self.in_flight += change

    def text(self) -> str:
        """Return the text format."""
        with self._lock:
            return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterable[str]:
        labels = self._labels
        yield "# TYPE landbridge_model_ready gauge"
        yield f'landbridge_model_ready{{{labels},content="{self._content}"}} {int(self.ready)}'
        yield "# TYPE landbridge_model_in_flight gauge"
        yield f"landbridge_model_in_flight{{{labels}}} {self.in_flight}"
        yield "# TYPE landbridge_model_requests_total counter"
        for status, count in sorted(self._requests.items()):
            yield f'landbridge_model_requests_total{{{labels},status="{status}"}} {count}'
        yield "# TYPE landbridge_model_shadow_total counter"
        for (candidate, result), count in sorted(self._shadow.items()):
            yield f'landbridge_model_shadow_total{{{labels},candidate="{candidate}",result="{result}"}} {count}'
        yield "# TYPE landbridge_model_copies_total counter"
        for status, count in sorted(self._copies.items()):
            yield f'landbridge_model_copies_total{{{labels},status="{status}"}} {count}'
        yield from self._shadow_lines()
        yield "# TYPE landbridge_model_latency_seconds histogram"
        yield from self._latency.lines("landbridge_model_latency_seconds", labels)
        yield "# TYPE landbridge_model_confidence histogram"
        yield from self._confidence.lines("landbridge_model_confidence", labels)
        yield "# TYPE landbridge_model_feature histogram"
        for name, distribution in self._features.items():
            yield from distribution.lines("landbridge_model_feature", f'{labels},feature="{name}"', has_sum=False)
        yield "# TYPE landbridge_model_slice_feature histogram"
        for (place, name), distribution in self._sliced.items():
            where = f'{labels},slice="{place}",feature="{name}"'
            yield from distribution.lines("landbridge_model_slice_feature", where, has_sum=False)

    def _shadow_lines(self) -> Iterable[str]:
        labels = self._labels
        for name, distributions in (
            ("landbridge_model_shadow_seconds", self._shadow_seconds),
            ("landbridge_model_shadow_latency_difference_seconds", self._shadow_later),
        ):
            yield f"# TYPE {name} histogram"
            for candidate, distribution in distributions.items():
                yield from distribution.lines(name, f'{labels},candidate="{candidate}"')
        name = "landbridge_model_shadow_difference"
        yield f"# TYPE {name} histogram"
        for (candidate, output), distribution in self._shadow_differences.items():
            yield from distribution.lines(name, f'{labels},candidate="{candidate}",output="{escaped(output)}"')


def escaped(text: str) -> str:
    """Return the value of a label without characters that end it."""
    return text.replace("\\", "_").replace('"', "_").replace("\n", "_")
