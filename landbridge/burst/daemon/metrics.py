"""Prometheus metrics: OpenMetrics text on a loopback port. The text is rendered at the end of a pass, not for a
request."""

import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from landbridge.burst.daemon.log import log
from landbridge.burst.model import Action, ActionOutcome, Ec2View, Launch, ObservationKind, SlurmView, State
from landbridge.burst.model.training_job import TRAINING
from landbridge.burst.reconcile.launching.spot_order import is_failed_launch
from landbridge.timestamps import month_of

CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
#: Upper bounds of the histograms in seconds: from a launch call to a node that Slurm can use, and of a pass.
READY_BOUNDS = (15.0, 30.0, 60.0, 120.0, 240.0, 480.0, 960.0, 1920.0)
PASS_BOUNDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0)
#: While one of these is set, Slurm cannot use a node yet.
NOT_READY_STATES = frozenset(
    {"POWERING_UP", "POWERED_DOWN", "POWERING_DOWN", "POWER_UP", "NOT_RESPONDING", "DOWN", "UNKNOWN"}
)
Labels = tuple[tuple[str, str], ...]
Samples = Mapping[Labels, float]


class Histogram:
    """Histogram: counts of values up to each bound, by labels."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self._counts: dict[Labels, list[int]] = {}
        self._sums: Counter[Labels] = Counter()

    def add(self, labels: Labels, value: float) -> None:
        counts = self._counts.setdefault(labels, [0] * (len(self.bounds) + 1))
        for index, bound in enumerate((*self.bounds, float("inf"))):
            counts[index] += value <= bound
        self._sums[labels] += value  # type: ignore[assignment]

    def lines(self, name: str) -> Iterable[str]:
        for labels, counts in self._counts.items():
            for bound, count in zip((*map(str, self.bounds), "+Inf"), counts, strict=True):
                yield f"{name}_bucket{_labels((*labels, ('le', bound)))} {count}"
            yield f"{name}_count{_labels(labels)} {counts[-1]}"
            yield f"{name}_sum{_labels(labels)} {self._sums[labels]:g}"


class Metrics:
    """Metrics of the passes; `text` is their rendering at the end of the last pass."""

    def __init__(self) -> None:
        self.text = "# EOF\n"
        self._launched: Counter[Labels] = Counter()
        self._refused: Counter[Labels] = Counter()
        self._failures: Counter[Labels] = Counter()
        self._ready = Histogram(READY_BOUNDS)
        self._passes = Histogram(PASS_BOUNDS)
        self._waiting: dict[str, tuple[str, float]] = {}  # node -> pool, time of the launch call
        self._leaked_seconds = 0.0
        self._last_view: float | None = None
        self._gauges: dict[str, Samples] = {}

    def failed(self, side: str, code: str) -> None:
        self._failures[("code", code), ("side", side)] += 1

    def performed(self, action: Action, outcome: ActionOutcome, now: float) -> None:
        if not isinstance(action, Launch):
            if outcome.code:
                self.failed(type(action).__name__.lower(), outcome.code)
            return
        labels = (("offering", action.offering.key), ("pool", action.gang.pool))
        self._launched[labels] += len(outcome.instances)
        if outcome.code:
            self._refused[("code", outcome.code), *labels] += 1
        created_at = {node: attempt.created_at for attempt in action.attempts for node in attempt.nodes}
        self._waiting |= {node: (action.gang.pool, created_at.get(node, now)) for node in outcome.instances}

    def certificate_ends(self, not_after: float) -> None:
        self._gauges["certificate_expiry_timestamp_seconds"] = {(): not_after}

    def mover_reported(self, at: float) -> None:
        self._gauges["mover_report_timestamp_seconds"] = {(): at}

    def seen(self, slurm: SlurmView, ec2: Ec2View | None, state: State) -> None:
        for node, (pool, created_at) in list(self._waiting.items()):
            slurm_node = slurm.nodes.get(node)
            if slurm_node is None or slurm_node.states & {"POWERED_DOWN", "POWERING_DOWN", "DOWN"}:
                del self._waiting[node]
            elif not slurm_node.states & NOT_READY_STATES:
                self._ready.add((("pool", pool),), max(0.0, slurm.at - created_at))
                del self._waiting[node]
        self._observe(slurm, ec2, state)

    def budgeted(self, used: Mapping[str, float]) -> None:
        """Record the used share of each monthly limit, by the limit's name."""
        self._gauges["budget_used_ratio"] = {(("budget", name),): ratio for name, ratio in used.items()}

    def passed(self, seconds: float, now: float, acting: bool) -> None:
        """Record the end of a pass and render the text."""
        self._passes.add((), seconds)
        self._gauges["active"] = {(): float(acting)}
        self._gauges["last_pass_timestamp_seconds"] = {(): now}
        self.text = self._render()

    def _observe(self, slurm: SlurmView, ec2: Ec2View | None, state: State) -> None:
        gauges = self._gauges
        if ec2 is not None:
            nodes = {
                node
                for node, slurm_node in slurm.nodes.items()
                if not slurm_node.states & {"POWERED_DOWN", "POWERING_DOWN"}
            }
            alive = [instance for instance in ec2.instances if instance.state in ("pending", "running")]
            leaked = [instance for instance in alive if instance.node not in nodes]
            if self._last_view is not None:
                self._leaked_seconds += len(leaked) * max(0.0, ec2.at - self._last_view)
            self._last_view = ec2.at
            gauges["unowned_instances"] = {(): float(len(leaked))}
            gauges["ready_nodes"] = _count(
                (("pool", instance.pool),)
                for instance in alive
                if instance.node in nodes and not slurm.nodes[instance.node].states & NOT_READY_STATES
            )
            gauges["instances"] = _count(
                (("pool", instance.pool), ("state", instance.state)) for instance in ec2.instances
            )
        gauges["orders"] = {(): float(len(state.orders))}
        gauges["insufficient_capacity_until_seconds"] = {
            (("offering", offering),): d.until
            for offering, d in state.insufficient_capacity.items()
            if not is_failed_launch(d)
        }
        gauges["breaker_open"] = {
            (("code", breaker.code), ("pool", pool)): 1.0 for pool, breaker in state.breakers.items()
        }
        gauges["refused_terminations"] = _count(
            (("code", refusal.code),) for refusal in state.termination_refusals.values()
        )
        gauges["scheduled_events"] = _count(
            (("code", status.event),) for status in state.instance_statuses.values() if status.event
        )
        gauges["impaired_instances"] = {
            (): float(sum(bool(status.impaired) for status in state.instance_statuses.values()))
        }
        gauges["unread_statuses"] = {
            (("code", read.code), ("region", region)): 1.0 for region, read in state.status_reads.items() if read.code
        }
        gauges["kept_nodes"] = {(): float(len(state.keeps))}
        gauges["jobs_backed_off"] = _count((("code", backoff.code),) for backoff in state.backoffs.values())
        apart = sum(observation.kind is ObservationKind.JOB_APART for observation in state.first_seen)
        gauges["jobs_apart"] = {(): float(apart)}
        held: Counter[Labels] = Counter()
        month = month_of(slurm.at)
        for hold in state.holds.values():
            for account, usd in hold.charges(hold.since, hold.end).items():
                held[("account", account), ("month", month), ("pool", hold.pool)] += usd  # type: ignore[assignment]
        for job in state.training_jobs.values():
            held[("account", job.account), ("month", month), ("pool", TRAINING)] += job.held_usd  # type: ignore[assignment]
        gauges["held_usd"] = held
        gauges["spent_usd"] = {
            (("account", account), ("month", month), ("pool", pool)): usd
            for (month, account, pool), usd in state.spent.items()
        }

    def _render(self) -> str:
        lines: list[str] = []
        families: list[tuple[str, str, str, Samples]] = [
            ("launched_instances", "counter", "Instances that launch calls returned.", self._launched),
            (
                "refused_launches",
                "counter",
                "Launches that were refused, by offering and by EC2's code.",
                self._refused,
            ),
            ("failures", "counter", "Calls of EC2 or Slurm that could not be made.", self._failures),
            (
                "unowned_instance_seconds",
                "counter",
                "Time that instances ran without a node.",
                {(): self._leaked_seconds},
            ),
            *((name, "gauge", GAUGES[name], samples) for name, samples in self._gauges.items()),
        ]
        for name, kind, description, samples in families:
            lines += _family(name, kind, description)
            suffix = "_total" if kind == "counter" else ""
            lines += [f"{PREFIX}{name}{suffix}{_labels(labels)} {value:.12g}" for labels, value in samples.items()]
        for name, description, histogram in (
            ("ready_seconds", "From a launch call until Slurm can use the node.", self._ready),
            ("pass_seconds", "One pass over everything.", self._passes),
        ):
            lines += [*_family(name, "histogram", description), *histogram.lines(f"{PREFIX}{name}")]
        return "\n".join([*lines, "# EOF", ""])


PREFIX = "landbridge_burst_"
GAUGES = {
    "budget_used_ratio": "Share of a monthly limit that is spent or held.",
    "active": "Whether this host's controller acts; the standby's does not.",
    "mover_report_timestamp_seconds": "When the mover last reported about data and results.",
    "last_pass_timestamp_seconds": "When the last pass ended.",
    "certificate_expiry_timestamp_seconds": "When this host's certificate for AWS ends.",
    "unowned_instances": "Instances that run without a node.",
    "ready_nodes": "Nodes with an instance that Slurm can use.",
    "instances": "Instances by pool and state.",
    "orders": "Orders of Slurm that are not carried out yet.",
    "insufficient_capacity_until_seconds": "Time until which an offering with insufficient capacity is not tried.",
    "breaker_open": "Pools whose circuit breaker is open, by code.",
    "refused_terminations": "Instances that EC2 refuses to terminate, by code.",
    "scheduled_events": "Instances with a scheduled event of EC2, by code.",
    "impaired_instances": "Instances with a failed status check of EC2.",
    "unread_statuses": "Regions whose status checks and scheduled events could not be read, by code.",
    "kept_nodes": "Nodes that an operator keeps up without a job.",
    "jobs_backed_off": "Jobs that could not be served, by code.",
    "jobs_apart": "Jobs with nodes in several zones or of several instance types that are not moved.",
    "held_usd": "Budget holds: worst-case cost of running instances.",
    "spent_usd": "Cost of terminated instances.",
}


def serve_if_set(metrics: Metrics, address: str | None) -> ThreadingHTTPServer | None:
    """Serve the metrics on the address of the settings. Without one, or if it cannot be used, serve none."""
    if address is None:
        return None
    try:
        return serve(metrics, address)
    except OSError as error:
        log(f"no metrics on {address}: {error.strerror}")
        return None


def serve(metrics: Metrics, address: str) -> ThreadingHTTPServer:
    """Serve the metrics on `host:port` in a separate thread, until `shutdown`."""

    class Handler(BaseHTTPRequestHandler):
        timeout = 5.0  # seconds; closes a connection without a request

        def do_GET(self) -> None:
            is_metrics_path = self.path in ("/metrics", "/")
            body = (metrics.text if is_metrics_path else "").encode()
            self.send_response(200 if is_metrics_path else 404)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *_: object) -> None: ...

    host, _, port = address.rpartition(":")
    server = ThreadingHTTPServer((host.strip("[]"), int(port)), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(5.0,), daemon=True, name="metrics").start()
    return server


def _family(name: str, kind: str, description: str) -> list[str]:
    return [f"# TYPE {PREFIX}{name} {kind}", f"# HELP {PREFIX}{name} {description}"]


def _count(labels: Iterable[Labels]) -> Samples:
    return {key: float(number) for key, number in Counter(labels).items()}


def _labels(labels: Labels) -> str:
    if not labels:
        return ""
    escaped = ((key, value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")) for key, value in labels)
    return "{" + ",".join(f'{key}="{value}"' for key, value in escaped) + "}"
