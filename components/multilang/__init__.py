"""Multi-language package: components for Pulumi programs in any language; `pulumi package add` creates SDKs from its
schema.

An adapter takes a few plain values, plans with the same functions as an environment, and creates the component of the
same name. A component without an adapter is either created by a component that has one (accounting database by the
controller, reaper, alarms and trail by the guardrails) or needs settings that only an environment has (existing network, DNS
records, Direct Connect, region link).
"""

import sys

import pulumi

from components.parts.discovery import component_classes


def classes() -> dict[str, type[pulumi.ComponentResource]]:
    """Return the adapters by class name."""
    return component_classes(sys.modules[__name__])
