"""Proof of data residency: no path by which data of a class reaches a place where it may not be, or the paths."""

from dataclasses import dataclass
from typing import Any

from landbridge.environment import Environment
from landbridge.findings import Finding
from landbridge.ops.residency.assumptions import Assumption, assumptions
from landbridge.ops.residency.class_policy import ClassPolicy, class_policies
from landbridge.ops.residency.compiled import CompiledForms, compiled_forms
from landbridge.ops.residency.data_graph import data_graph
from landbridge.ops.residency.search import ResidencyPath, residency_paths


@dataclass(frozen=True, slots=True)
class ResidencyProof:
    """Result: the policy of each class, the size of the graph, the paths, and the assumptions."""

    policies: dict[str, ClassPolicy]
    places: int
    crossings: int
    paths: tuple[ResidencyPath, ...]
    assumptions: tuple[Assumption, ...]

    @property
    def is_proven(self) -> bool:
        """Return whether there is no path, and no barrier that is open alone."""
        return not self.paths

    def findings(self) -> tuple[Finding, ...]:
        """Return the findings of every path, each followed by its steps."""
        return tuple(finding for path in self.paths for finding in path.findings())

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for `--format json`."""
        return {
            "proven": self.is_proven,
            "classes": {name: list(policy.locations) for name, policy in self.policies.items()},
            "places": self.places,
            "crossings": self.crossings,
            "paths": [path.to_dict() for path in self.paths],
        }


def prove(environment: Environment) -> ResidencyProof:
    """Prove the residency of every class of an environment."""
    return prove_forms(compiled_forms(environment))


def prove_forms(forms: CompiledForms) -> ResidencyProof:
    """Prove the residency of every class for given compiled forms."""
    policies = class_policies(forms.environment)
    graph = data_graph(forms, policies)
    count = sum(map(len, graph.crossings.values()))
    paths = residency_paths(graph, policies)
    return ResidencyProof(policies, len(graph.places), count, paths, assumptions(forms))
