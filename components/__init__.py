"""Pulumi components, one public class per module. A component takes a frozen plan and creates AWS resources; all
decisions are in the plan.

Import a class from its module: `from components.network import Network`. `components.classes()` finds all of them.
They load pulumi_aws by single modules (`components.parts.sdk_loading`).
"""

import sys

import pulumi

from components import governance
from components.parts import sdk_loading
from components.parts.discovery import component_classes

sdk_loading.install()


def classes() -> dict[str, type[pulumi.ComponentResource]]:
    """Return the components by class name."""
    return component_classes(sys.modules[__name__], governance)
