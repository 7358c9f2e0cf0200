"""Observation of a site: nodes in Slurm, and each on-prem node's own facts (`landbridge-node-health facts`) over ssh."""

import json
import re
import shlex
import subprocess
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from landbridge.catalog.hardware.gpu_health import gpu_health
from landbridge.environment import Environment
from landbridge.ops.gpu_health.counters import CounterReading, counter_observations
from landbridge.ops.gpu_health.kernel_log import short
from landbridge.ops.gpu_health.values import GpuIdentity, HealthObservation, NodeView
from landbridge.ops.host_access import forced_command
from landbridge.ops.scontrol import ssh
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.site.health import PROGRAM

_TIMEOUT_SECONDS = 60
_PARALLEL = 16
_ADDRESS = re.compile(r"\b([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2})(?:\.[0-9])?\b")
_INDEX = re.compile(r"\bGPU (\d+)\b")
_REASON = re.compile(r"^landbridge:([a-z_]+):(.*?)(?:; do: ([a-z]+).*)?$")

#: Runs a command on a node and returns its output; None if the node did not answer.
OnNode = Callable[[str, list[str]], str | None]


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """Facts that a node has of itself."""

    gpus: tuple[GpuIdentity, ...] = ()
    processes: int | None = None
    booted_at: float | None = None
    observations: tuple[HealthObservation, ...] = ()


@dataclass(frozen=True, slots=True)
class SiteObservation:
    """Views and observations of all nodes, with the GPUs by node; `silent`: nodes that did not answer."""

    views: tuple[NodeView, ...]
    observations: tuple[HealthObservation, ...]
    gpus: Mapping[str, tuple[GpuIdentity, ...]]
    silent: tuple[str, ...]


def observe(answer: Mapping[str, Any], onprem: Iterable[str], on_node: OnNode) -> SiteObservation:
    """Return the observation of the nodes of `scontrol show nodes --json`. `onprem`: names of the on-prem nodes."""
    site_nodes = set(onprem)
    nodes = {str(node["name"]): node for node in answer.get("nodes", ())}
    names = sorted(site_nodes & nodes.keys())
    with ThreadPoolExecutor(max_workers=_PARALLEL) as pool:
        texts = dict(zip(names, pool.map(lambda name: on_node(name, [PROGRAM, "facts"]), names), strict=True))
    facts = {name: node_facts(name, text) for name, text in texts.items() if text is not None}
    views = tuple(_view(node, facts.get(name), name in site_nodes) for name, node in sorted(nodes.items()))
    seen = [observation for known in facts.values() for observation in known.observations]
    seen += [entry for view in views if view.site == "aws" for entry in _of_reason(view, nodes[view.node])]
    gpus = {name: known.gpus for name, known in facts.items()}
    return SiteObservation(views, tuple(seen), gpus, tuple(name for name in names if name not in facts))


def node_facts(node: str, text: str) -> NodeFacts:
    """Return the facts in the output of `landbridge-node-health facts`; empty facts for other text."""
    try:
        data = json.loads(text)
        gpus = tuple(
            GpuIdentity(
                int(gpu["index"]),
                short(gpu["pci_bus_id"]),
                gpu["uuid"],
                gpu["serial"],
                gpu["name"],
                gpu["vbios_version"],
            )
            for gpu in data["gpus"]
        )
        result = data["result"] or {"problems": [], "at": 0}
        seen = tuple(_observation(node, problem, float(result["at"]), gpus) for problem in result["problems"])
        # A program of an earlier release has no counters.
        readings = [
            CounterReading(float(entry["at"]), node, part, values)
            for entry in data.get("counters", ())
            for part, values in entry["parts"].items()
        ]
        seen += counter_observations(readings, gpu_health())
        return NodeFacts(gpus, data["processes"], data["booted_at"], seen)
    except (ValueError, KeyError, TypeError):
        return NodeFacts()


def site_nodes(environment: Environment, names: Iterable[str]) -> OnNode:
    """Return a function that runs a command on on-prem nodes: by the forced command of a timer, or by the operator's ssh."""
    access = forced_command()
    if access is None:
        privileged = service_hosts(environment).access.user != "root"
        return over_ssh({name: ssh(environment, name) for name in names}, privileged)
    addresses = environment.host_addresses()
    # The words of the list are those of the program.
    return lambda node, words: access.answer(addresses[node], words[-1])


def over_ssh(prefixes: Mapping[str, list[str]], privileged: bool) -> OnNode:
    """Return a function that runs a command on a node over ssh, as root."""

    def run(node: str, words: list[str]) -> str | None:
        command = shlex.join([*(["sudo", "--non-interactive"] if privileged else []), *words])
        try:
            completed = subprocess.run(
                [*prefixes[node], command],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_TIMEOUT_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return completed.stdout if completed.returncode == 0 else None

    return run


def _observation(node: str, problem: Mapping[str, Any], at: float, gpus: tuple[GpuIdentity, ...]) -> HealthObservation:
    detail, event = str(problem["detail"]), bool(problem["event"])
    moment = float(problem.get("at") or at) if event else at
    return HealthObservation(moment, node, problem["check"], detail, gpu_of(detail, gpus), problem["action"], event)


def gpu_of(detail: str, gpus: Iterable[GpuIdentity]) -> str:
    """Return the UUID of the GPU that a detail names by address or index; the address if no such GPU is listed."""
    listed = tuple(gpus)
    if match := _ADDRESS.search(detail):
        address = match.group(1)
        return next((gpu.uuid for gpu in listed if gpu.address == address), address)
    if match := _INDEX.search(detail):
        return next((gpu.uuid for gpu in listed if gpu.index == int(match.group(1))), "")
    return ""


def _of_reason(view: NodeView, node: Mapping[str, Any]) -> Iterable[HealthObservation]:
    match = _REASON.match(view.reason) if view.is_of_a_check else None
    at = node.get("reason_changed_at")
    seconds = at.get("number", 0) if isinstance(at, Mapping) else at
    if match is not None:
        check, detail, action = match.groups()
        yield HealthObservation(float(seconds or 0), view.node, check, detail, "", action or "", event=True)


def _view(node: Mapping[str, Any], facts: NodeFacts | None, is_onprem: bool) -> NodeView:
    flags = node.get("state", [])
    flags = [flags] if isinstance(flags, str) else list(flags)
    has_jobs = bool({"ALLOCATED", "MIXED", "COMPLETING"} & set(flags))
    return NodeView(
        node=str(node["name"]),
        site="onprem" if is_onprem else "aws",
        drained="DRAIN" in flags,
        reason=str(node.get("reason") or "") if "DRAIN" in flags else "",
        jobs=int(has_jobs),
        gpu_processes=facts.processes if facts is not None else None,
        booted_at=facts.booted_at if facts is not None else None,
    )
