"""The layers of an environment, from the bottom up: foundation, cluster, platform.

Each is planned before any is built, and built by one function from plans and from what it reads of the layers below:
the same functions whichever stacks they are registered in.
"""

from layers.cluster import Cluster, ClusterPlan
from layers.context import Context
from layers.foundation import Foundation, FoundationPlan
from layers.handover import told
from layers.platform import PlatformPlan

__all__ = ["Cluster", "ClusterPlan", "Context", "Foundation", "FoundationPlan", "PlatformPlan", "told"]
