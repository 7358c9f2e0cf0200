"""Crossings of the caches of staged datasets: from the storage host to a node's disk, and from there to jobs."""

from collections.abc import Sequence

from landbridge import hostlist
from landbridge.findings import DataPath
from landbridge.ops.residency.cache_forms import CacheForm
from landbridge.ops.residency.compiled import CompiledForms
from landbridge.ops.residency.graph import ONPREM, Barrier, DataGraph, DataPlace, in_words
from landbridge.ops.residency.iam_access import reads

_STAGING: DataPath = ("storage", "staging")


def add_caches(graph: DataGraph, forms: CompiledForms) -> None:
    """Add the cached datasets of each class, and the jobs of every account on the same nodes: they have the disk in common, and
    the group of a class's folder separates them; in AWS IAM decides on each call.
    """
    for form in forms.caches:
        title = f"cached datasets of {form.data_class} on {hostlist.compress(form.nodes)} ({in_words(form.location)})"
        place = DataPlace(f"cache:{form.data_class}@{form.location}", title, form.location, form.data_class)
        key = graph.add(place)
        why = "the node's service copies staged datasets of the class to its disk"
        graph.flow(f"data:{form.data_class}", key, why, (*_STAGING, "cache"), classes=(form.data_class,))
        for account, settings in forms.environment.scheduler.accounts.items():
            barriers = _barriers(forms, form, settings.data_class)
            if barriers is not None:
                graph.cross(key, f"jobs:{account}@{form.location}", barriers)


def _barriers(forms: CompiledForms, form: CacheForm, data_class: str) -> Sequence[Barrier] | None:
    """Return the barriers between cached datasets and jobs of a class; None for jobs without a role in AWS."""
    if form.location == ONPREM:
        return [_group_barrier(form, data_class)]
    role, bucket = forms.roles.get(f"job-{data_class}"), forms.buckets.get(f"bucket:{form.data_class}")
    return None if role is None or bucket is None else reads(role, bucket)


def _group_barrier(form: CacheForm, data_class: str) -> Barrier:
    name, path = "group of the folder", (*_STAGING, "groups", form.data_class)
    if not form.group:
        why, fix = "the folder has no group of its own", "name the group that reads the class"
        return Barrier(name, True, why, path, fix)
    if data_class == form.data_class:
        return Barrier(name, True, f"the group {form.group} reads datasets of the class", path)
    if data_class in form.readers:
        fix = f"give each class a group of its own: {form.group} reads both"
        return Barrier(name, True, f"the group {form.group} reads datasets of {data_class} too", path, fix)
    return Barrier(name, False, f"{form.group} is not a group of readers of {data_class}", path)
