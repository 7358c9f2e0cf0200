"""DNS records of hosts and file systems in the hosted zone."""

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from components.parts.component import Component
from landbridge.plan.network.dns_records import DnsRecordsArgs


class DnsRecords(Component):
    """DNS record for each host with a fixed address, and for each alias: `scratch` for a file system.

    Costs, protects and opens nothing: a private hosted zone answers queries from its VPC and from the site behind the link only.
    """

    def __init__(
        self,
        name: str,
        args: DnsRecordsArgs,
        *,
        zone_id: pulumi.Input[str],
        aliases: Mapping[str, pulumi.Input[str]] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"zone": args.zone}, opts)
        records = [("A", key, address) for key, address in args.hosts.items()]
        for kind, key, target in [*records, *(("CNAME", key, target) for key, target in (aliases or {}).items())]:
            aws.route53.Record(
                f"{name}-{key}",
                zone_id=zone_id,
                name=f"{key}.{args.zone}",
                type=kind,
                ttl=args.ttl,
                records=[target],
                opts=pulumi.ResourceOptions(parent=self),
            )
        self.register_outputs({"zoneId": zone_id})
