"""Crossings of the timers that archive models: from a registry to the bucket of its data class."""

from landbridge.findings import DataPath
from landbridge.ops.residency.compiled import CompiledForms
from landbridge.ops.residency.graph import ONPREM, Barrier, DataGraph, DataPlace
from landbridge.ops.residency.iam_access import writes
from landbridge.plan.roles.hosts.host_access import timer_host

_TIMERS: DataPath = ("observability", "timers")


def add_archives(graph: DataGraph, forms: CompiledForms) -> None:
    """Add the timers. Their role is one for all archived classes: the arguments of each timer select its bucket."""
    role = forms.roles.get("archive")
    if role is None:
        return
    for archive in forms.archives:
        title = f"archive of models of {archive.data_class} on {timer_host(forms.environment)}"
        key = graph.add(DataPlace(f"archive:{archive.data_class}", title, ONPREM, archive.data_class))
        for server in forms.servers:
            same = server.data_class == archive.data_class
            barriers = (
                Barrier("timer", server.uri == archive.uri, f"it reads {archive.uri}", _TIMERS),
                Barrier("signed manifests", same, f"it takes models of class {archive.data_class}", _TIMERS),
            )
            graph.cross(f"server:{server.name}", key, barriers)
        bucket = f"bucket:{archive.data_class}"
        for target in [bucket] if bucket in forms.buckets else forms.buckets:
            graph.cross(key, target, writes(role, forms.buckets[target]))
