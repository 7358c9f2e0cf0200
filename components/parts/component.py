"""Base class of the components."""

from collections.abc import Mapping
from typing import Any

import pulumi


class Component(pulumi.ComponentResource):
    """Pulumi component whose type token follows from its class name: `landbridge:components:Network`.

    The adapters of components/multilang have `landbridge:index:Network`, as Pulumi derives it for a package. A component had that
    token too until version 0.1.0. It is an alias now, so that an update of an older stack replaces nothing.
    """

    def __init__(self, name: str, inputs: Mapping[str, Any], opts: pulumi.ResourceOptions | None) -> None:
        class_name = type(self).__name__
        alias = pulumi.ResourceOptions(aliases=[pulumi.Alias(type_=f"landbridge:index:{class_name}")])
        options = pulumi.ResourceOptions.merge(opts, alias)
        super().__init__(f"landbridge:components:{class_name}", name, dict(inputs), options)
