"""Crossings of the site's object store and log store: jobs of each data class, and nodes in AWS."""

from landbridge.findings import DataPath
from landbridge.ops.residency.compiled import CompiledForms, StoreForm
from landbridge.ops.residency.graph import ONPREM, Barrier, DataGraph, DataPlace
from landbridge.ops.residency.iam_access import reads, writes
from landbridge.ops.residency.network_access import egress_barrier, firewall_barrier
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.object_store import store_port

_STORE: DataPath = ("storage", "object_store")


def add_stores(graph: DataGraph, forms: CompiledForms) -> None:
    """Add the buckets of the object store, the jobs that the policies admit, and the network between them and AWS."""
    environment = forms.environment
    host, port = service_hosts(environment).object_store, store_port(environment)
    for form in forms.stores:
        title = f"bucket {form.name} of the object store on {host}"
        key = graph.add(DataPlace(f"store:{form.data_class}", title, ONPREM, form.data_class))
        why = "the object store has a bucket for the class"
        path: DataPath = ("data_classes", form.data_class)
        graph.flow(f"data:{form.data_class}", key, why, path, classes=(form.data_class,))
        for account, settings in environment.scheduler.accounts.items():
            of_jobs, barrier = f"jobs:{account}@{ONPREM}", _policy_barrier(form, settings.data_class)
            graph.cross(of_jobs, key, [barrier])
            graph.cross(key, of_jobs, [barrier])
        for region in forms.networks:
            barriers = (
                firewall_barrier(forms, "object_store", host or "", port, region, _STORE),
                egress_barrier(forms, host or "", port, region, _STORE),
            )
            graph.cross(key, f"nodes:{region}", [barrier for barrier in barriers if barrier is not None])
    _replication(graph, forms)


def add_log_stores(graph: DataGraph, forms: CompiledForms) -> None:
    """Add the log stores, the hosts that ship to them, and the network between them and AWS."""
    for form in forms.log_stores:
        title = f"log store on {form.host}"
        key = graph.add(DataPlace(f"log-store:{form.host}", title, form.location))
        for writer in form.writers:
            graph.flow(writer, key, "its host ships the log to it", form.path)
        for region in forms.networks if form.location == ONPREM else ():
            network = (
                firewall_barrier(forms, "log_store", form.host, form.port, region, form.path),
                egress_barrier(forms, form.host, form.port, region, form.path),
            )
            # Nodes that ship pass the network. Two programs give no entry to a client: the proxy and the receiver.
            closed = [
                *(barrier for barrier in network if barrier is not None and not (barrier.open and form.nodes)),
                Barrier("proxy", False, "it passes uploads only", form.path),
                Barrier("receiver", False, "it receives entries, and gives none to a client", form.path),
            ]
            graph.cross(key, f"nodes:{region}", closed)
            count = len(form.nodes)
            why = f"it admits {count} nodes in AWS" if count else "it admits no certificate of nodes in AWS"
            admission = Barrier("admission of nodes", bool(count), why, form.path)
            graph.cross(f"nodes:{region}", key, [*(barrier for barrier in network if barrier is not None), admission])


def _replication(graph: DataGraph, forms: CompiledForms) -> None:
    """Add the copies between the object store and the hub. Their role is the data mover's: the configuration separates classes."""
    role, path = forms.roles.get("mover"), (*_STORE, "replicate")
    if role is None:
        return
    for data_class in sorted(forms.replicated):
        title = f"copies of {data_class} from the object store"
        key = graph.add(DataPlace(f"copies:{data_class}", title, ONPREM, data_class))
        why = "the object store copies the class to AWS and back"
        graph.flow(f"store:{data_class}", key, why, path, classes=(data_class,))
        graph.flow(key, f"store:{data_class}", why, path, classes=(data_class,))
        class_bucket = f"bucket:{data_class}"
        for target in [class_bucket] if class_bucket in forms.buckets else forms.buckets:
            graph.cross(key, target, writes(role, forms.buckets[target]))
            graph.cross(target, key, reads(role, forms.buckets[target]))


def _policy_barrier(form: StoreForm, data_class: str) -> Barrier:
    """Return the barrier of a bucket's policy for the jobs of a class, which get the keys of that class only."""
    if data_class in form.admits:
        return Barrier("bucket policy", True, f"the policy of {form.name} admits jobs of class {data_class}", _STORE)
    return Barrier("bucket policy", False, f"the policy of {form.name} names no account of class {data_class}", _STORE)
