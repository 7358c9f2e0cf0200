"""Command `landbridge model size`: the cheapest places that hold an objective, from a measurement on one of them."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import Format, print_json

if TYPE_CHECKING:
    from landbridge.models.sizing.places import ServingPlace

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(model: typer.Typer) -> None:
    """Add the command."""
    model.command()(size)


def size(
    measurement: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="JSON: processor (c7i, or h100-sxm5/1g.10gb), seconds, memory_mib, cores."),
    ],
    p95_ms: Annotated[float, typer.Option("--p95-ms", min=0.001, help="Objective: 95 percent of answers within it.")],
    rate: Annotated[float, typer.Option("--rate", min=0, help="Requests per second.")],
    region: Annotated[str, typer.Option("--region", help="AWS region of the prices.")] = "us-east-1",
    gpu_usd_hour: Annotated[
        float | None,
        typer.Option("--gpu-usd-hour", min=0, help="Price of a whole GPU in an hour, if its MIG slices are your own."),
    ] = None,
    spare: Annotated[int, typer.Option("--spare", min=0, help="Spare instances or slices, for one that fails.")] = 1,
    form: Form = Format.TEXT,
) -> None:
    """List the places that hold an objective, the cheapest first.

    A measurement counts for the instance types of its family, or for its MIG profile: `seconds` are the service times of requests
    without a wait. A slice costs its share of a GPU, of memory or multiprocessors, whichever is greater; without --gpu-usd-hour that of the
    cheapest instance type with the GPU. Exit status 1 if no place holds the objective. Example: landbridge model size c7i.json --p95-ms 50 --rate 200
    """
    import json

    from landbridge.models.sizing.places import ServingObjective, WorkerMeasurement, sized
    from landbridge.models.sizing.queueing import service_time

    measurements = []
    for path in measurement:
        try:
            data = json.loads(path.read_text())
            service = service_time([float(each) for each in data["seconds"]])
            measurements.append(
                WorkerMeasurement(str(data["processor"]), service, float(data["memory_mib"]), float(data["cores"]))
            )
        except (OSError, KeyError, TypeError, ValueError) as error:
            typer.echo(f"landbridge: {path}: it is not a measurement: {error}", err=True)
            raise typer.Exit(2) from None
    places = [place for each in measurements for place in _places(each.processor, region, gpu_usd_hour)]
    rows = sized(ServingObjective(p95_ms / 1000, rate, spare), measurements, places)
    if form is Format.JSON:
        print_json(
            [
                {
                    "place": row.place.name,
                    "holds": row.holds,
                    "workers": row.workers,
                    "count": row.count,
                    "p95_ms": row.p95_seconds * 1000,
                    "usd_hour": row.usd_hour,
                    "reason": row.reason,
                }
                for row in rows
            ]
        )
    else:
        for row in rows:
            cost = "no price" if row.usd_hour is None else f"{row.usd_hour:.3f} USD/h"
            text = f"{row.count} with {row.workers} workers, p95 {row.p95_seconds * 1000:.1f} ms, {cost}"
            typer.echo(f"{row.place.name:<24} {text if row.holds else row.reason}")
    raise typer.Exit(0 if any(row.holds for row in rows) else 1)


def _places(processor: str, region: str, gpu_usd: float | None) -> "Iterator[ServingPlace]":
    """Yield the instance types of a family, or the MIG profile of a GPU."""
    from landbridge.catalog import Price, gpus, instances, price_of
    from landbridge.catalog.hardware.mig import mig_profiles, slice_memory_mib
    from landbridge.models.sizing.places import ServingPlace
    from landbridge.plan.cost.mig_slices import gpu_usd_hour, slice_usd_hour

    model, slash, profile = processor.partition("/")
    if slash:
        slots = mig_profiles(model)
        if profile in slots:
            memory = slice_memory_mib(model, profile, gpus()[model].memory_mib or 0)
            gpu = gpu_usd if gpu_usd is not None else gpu_usd_hour(model, region)
            usd = slice_usd_hour(model, profile, gpu)
            yield ServingPlace(processor, processor, 1, memory, usd)
        return
    for name, kind in instances().items():
        if name.partition(".")[0] == processor:
            price = price_of("on_demand", name, region)
            usd = price.usd if isinstance(price, Price) else None
            yield ServingPlace(name, processor, kind.cpus.sockets * kind.cpus.cores, kind.memory_mib, usd)
