"""Command `landbridge model canary`: one step of a canary."""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import File, Format, Stack, print_findings, print_json
from landbridge.cli.model.common import Revoked, Trusted, account, open_registry, trust_from
from landbridge.cli.model.drift import write_whole
from landbridge.findings import FindingsError

if TYPE_CHECKING:
    from landbridge.models.canary.tallies import Tally
    from landbridge.models.drift.labels import JoinedLabels

Server = Annotated[
    str, typer.Option("--tracking-uri", metavar="URI", envvar="MLFLOW_TRACKING_URI", help="MLflow server.")
]
Servers = Annotated[
    list[str],
    typer.Option("--server", metavar="NAME=URL", help="Server of HAProxy's backend, with the URL of its metrics."),
]
Socket = Annotated[Path, typer.Option("--socket", help="HAProxy's runtime socket.")]
Backend = Annotated[str, typer.Option("--backend", help="HAProxy's backend.")]
Record = Annotated[Path, typer.Option("--record", metavar="FILE", help="Record of the canary.")]
Latency = Annotated[float, typer.Option("--p95-ms", min=0.001, help="Objective: 95 percent of answers within it.")]
Authority = Annotated[
    str | None, typer.Option("--authority", metavar="PEM", help="CA of the servers, for https metrics.")
]
State = Annotated[
    Path | None, typer.Option("--state-file", metavar="FILE", help="HAProxy's state file: weights outlive a reload.")
]
Low = Annotated[float, typer.Option("--low-confidence", min=0, max=1, help="Confidence up to which an answer is low.")]
Predictions = Annotated[
    Path | None, typer.Option("--predictions", metavar="FILE", help="JSON lines: request, version, at, label.")
]
Labels = Annotated[Path | None, typer.Option("--labels", metavar="FILE", help="JSON lines: request, at, label.")]
Gauges = Annotated[
    Path | None,
    typer.Option(
        "--gauges", metavar="FILE", help="Write metrics to this file, for node exporter's textfile collector."
    ),
]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]
#: Labels later than this do not count.
_LABEL_SECONDS = 7 * 86_400.0


def register(model: typer.Typer) -> None:
    """Add the command."""
    model.command()(canary)


def canary(
    name: Annotated[str, typer.Argument(metavar="MODEL", help="Name of the model.")],
    champion: Annotated[str, typer.Argument(metavar="CHAMPION", help="Version that serves.")],
    candidate: Annotated[str, typer.Argument(metavar="CANDIDATE", help="Version to compare with it.")],
    tracking_uri: Server,
    server: Servers,
    socket: Socket,
    backend: Backend,
    record: Record,
    p95_ms: Latency,
    low_confidence: Low = 0.5,
    predictions: Predictions = None,
    labels: Labels = None,
    authority: Authority = None,
    state_file: State = None,
    stack: Stack = None,
    file: File = None,
    trust: Trusted = None,
    revoked: Revoked = None,
    gauges: Gauges = None,
    form: Form = Format.TEXT,
) -> None:
    """Make one step of a canary: look, decide, set weights.

    A promotion verifies the signature first, and it and a rollback move the alias with a record in the history; both are recorded as tags of the version. Run it every few seconds from a timer; a step
    that was killed is completed by the next one. Exit status 1 if the candidate is rolled back, 2 if the gateway or MLflow failed.
    Example: landbridge model canary digits 3 4 --server v3=http://127.0.0.1:9003/metrics --server
    v4=http://127.0.0.1:9004/metrics --socket /run/haproxy/admin.sock --backend digits --record
    /var/lib/landbridge/canary/digits.json --p95-ms 50
    """
    from landbridge.live.models.canary_moves import CanaryMoves
    from landbridge.live.models.registry import RegistryError
    from landbridge.models.canary.decide import CanaryAction
    from landbridge.ops.secrets.cipher import SecretsError
    from landbridge.serving.canary_controller.controller import step, stored
    from landbridge.serving.canary_controller.gateway import HaproxyShares
    from landbridge.serving.canary_controller.guard_counters import GuardBounds, is_ready
    from landbridge.serving.canary_controller.looks import look_at, read_samples
    from landbridge.serving.canary_controller.plans import canary_plan
    from landbridge.serving.canary_controller.runtime_socket import GatewayError

    urls = dict(_pairs(server))
    samples = {each: read_samples(url, authority) for each, url in urls.items()}
    tallies = _tallies(predictions, labels)
    bounds = GuardBounds(p95_ms / 1000, low_confidence)
    look = look_at(time.time(), samples, champion, candidate, bounds, tallies)
    ready = {each: read for each, read in samples.items() if read is not None}
    gateway = HaproxyShares(
        socket,
        backend,
        tuple(each for each, read in ready.items() if is_ready(read, champion)),
        tuple(each for each, read in ready.items() if is_ready(read, candidate)),
        tuple(urls),
        state_file,
    )
    registry = CanaryMoves(
        lambda: open_registry(tracking_uri), lambda: trust_from(trust, revoked, stack, file), account(), time.time
    )
    try:
        decision = step(canary_plan(tallies is not None), record, look, (name, champion, candidate), gateway, registry)
    except FindingsError as error:
        print_findings(error.findings)
        raise typer.Exit(2) from None
    except (GatewayError, RegistryError, SecretsError, OSError, ValueError) as error:
        typer.echo(f"landbridge: {error}", err=True)
        raise typer.Exit(2) from None
    if gauges is not None and (state := stored(record)) is not None:
        from landbridge.models.canary.gauges import canary_gauge_text

        write_whole(gauges, canary_gauge_text(state, decision, look.at))
    if form is Format.JSON:
        print_json(
            {
                "model": name,
                "candidate": candidate,
                "action": decision.action,
                "weight": decision.weight,
                "reason": decision.reason,
            }
        )
    else:
        typer.echo(
            f"{name} {candidate}: {decision.action.replace('_', ' ')}, {decision.weight} percent: {decision.reason}"
        )
    raise typer.Exit(1 if decision.action is CanaryAction.ROLL_BACK else 0)


def joined_files(predictions: Path, labels: Path) -> "JoinedLabels":
    """Return the join of both files. Exits with 2 if one cannot be read."""
    import json

    from landbridge.models.drift.labels import LateLabel, LoggedPrediction, joined

    try:
        logged = [
            LoggedPrediction(str(row["request"]), str(row["version"]), float(row["at"]), str(row["label"]))
            for row in map(json.loads, predictions.read_text().splitlines())
        ]
        late = [
            LateLabel(str(row["request"]), float(row["at"]), str(row["label"]))
            for row in map(json.loads, labels.read_text().splitlines())
        ]
    except (OSError, KeyError, TypeError, ValueError) as error:
        typer.echo(f"landbridge: {predictions} or {labels}: {error}", err=True)
        raise typer.Exit(2) from None
    return joined(logged, late, _LABEL_SECONDS)


def _tallies(predictions: Path | None, labels: Path | None) -> "dict[str, Tally] | None":
    if predictions is None or labels is None:
        return None
    return dict(joined_files(predictions, labels).tallies)


def _pairs(servers: Iterable[str]) -> Iterable[tuple[str, str]]:
    for each in servers:
        name, equals, url = each.partition("=")
        if not equals or not url.startswith(("http://", "https://")):
            raise typer.BadParameter(f"{each} is not NAME=URL", param_hint="--server")
        yield name, url
