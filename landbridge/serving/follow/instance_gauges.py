"""Gauges of the hosts of model servers in AWS in Prometheus's text format: which should run, and which do."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from landbridge.serving.follow.instances import HostInstance, PowerState

#: File in the folder of landbridge-model-instances, to which a link in node exporter's folder points.
GAUGES = "landbridge-model-instances.prom"


def instance_gauges(
    known: Sequence[str], wanted: Collection[str], instances: Iterable[HostInstance], state: PowerState, at: float
) -> str:
    """Return the gauges after a pass. A host whose start AWS refused is not wanted: another one serves in its place."""
    return "\n".join(_lines(known, wanted, instances, state, at)) + "\n"


def _lines(
    known: Sequence[str], wanted: Collection[str], instances: Iterable[HostInstance], state: PowerState, at: float
) -> Iterator[str]:
    running = {each.host for each in instances if each.state == "running"}
    gauges = {
        "wanted": {host: host in wanted and host not in state.refused for host in known},
        "running": {host: host in running for host in known},
    }
    for name, values in gauges.items():
        yield f"# TYPE landbridge_model_instance_{name} gauge"
        for host, value in values.items():
            yield f'landbridge_model_instance_{name}{{host="{host}"}} {int(value)}'
    yield "# TYPE landbridge_model_instance_pass_timestamp_seconds gauge"
    yield f"landbridge_model_instance_pass_timestamp_seconds {at:.0f}"
