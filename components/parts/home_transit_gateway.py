"""Transit gateway of the home region, for links to other regions."""

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi


@dataclass(frozen=True)
class HomeTransitGateway:
    """Transit gateway, its route tables by the attachments that use them, and the VPC's route tables by zone."""

    transit_gateway_id: pulumi.Output[str]
    tables: Mapping[str, pulumi.Output[str]]
    route_table_ids: Mapping[str, pulumi.Input[str]]
