"""Layers of an environment, the lowest first: foundation, cluster, platform.

All layers are planned before the first is built. One function builds a layer from its plan and from the outputs of the layers
below; it is the same function for one stack and for three.
"""

from layers.cluster import Cluster, ClusterPlan
from layers.context import Context
from layers.foundation import Foundation, FoundationPlan
from layers.handover import to_output
from layers.platform import PlatformPlan

__all__ = ["Cluster", "ClusterPlan", "Context", "Foundation", "FoundationPlan", "PlatformPlan", "to_output"]
