"""The components for programs in any language: `pulumi package add` makes their SDKs from the schema that these classes give.

Each takes a few plain values, plans with the same functions as an environment does, and makes the component of the same name.
"""

from components.package.hub import DataHub
from components.package.link import SiteLink
from components.package.network import Network
from components.package.pool import GpuPool

__all__ = ["DataHub", "GpuPool", "Network", "SiteLink"]
