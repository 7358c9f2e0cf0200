"""Route 53 private hosted zones and records."""

import time
import uuid
from typing import Any

from sandbox.pulumi_provider.aws.base import (
    AwsResource,
    Bag,
    CloudFormationType,
    ProviderError,
    first_or_none,
    ignore_missing,
    tag_list,
    tag_map,
)


class HostedZoneResource(AwsResource):
    """Private hosted zone; public zones are not supported, because they need a registrar."""

    token = "aws:route53/zone:Zone"
    cloudformation = CloudFormationType("AWS::Route53::HostedZone")
    replaces = frozenset({"name", "delegationSetId"})

    @property
    def route53(self) -> Any:
        return self.cloud.client("route53")

    def create(self, news: Bag) -> tuple[str, Bag]:
        vpcs = [self._vpc(vpc) for vpc in news.get("vpcs") or []]
        if not vpcs:
            raise ProviderError("the sandbox has private zones only: name a VPC")
        response = self.route53.create_hosted_zone(
            Name=news["name"],
            CallerReference=f"{uuid.uuid4()}-{time.time_ns()}",
            HostedZoneConfig={"Comment": news.get("comment", "Managed by Pulumi"), "PrivateZone": True},
            VPC=vpcs[0],
        )
        id_ = str(response["HostedZone"]["Id"]).rpartition("/")[2]
        for other_vpc in vpcs[1:]:
            self.route53.associate_vpc_with_hosted_zone(HostedZoneId=id_, VPC=other_vpc)
        self._tag(id_, {}, news.get("tags") or {})
        servers = response.get("DelegationSet", {}).get("NameServers", [])
        return id_, {"zoneId": id_, "arn": f"arn:aws:route53:::hostedzone/{id_}", "nameServers": servers}

    def read(self, id_: str, state: Bag) -> Bag | None:
        zone = first_or_none(lambda **named: {"it": [self.route53.get_hosted_zone(**named)]}, "it", Id=id_)
        if zone is None:
            return None
        tags = self.route53.list_tags_for_resource(ResourceType="hostedzone", ResourceId=id_)["ResourceTagSet"]["Tags"]
        return {
            "name": zone["HostedZone"]["Name"].rstrip("."),
            "comment": zone["HostedZone"]["Config"].get("Comment"),
            "vpcs": [{"vpcId": vpc["VPCId"]} for vpc in zone["VPCs"]],
            "tags": tag_map(tags),
        }

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        other_changes = changed - {"tags", "comment", "vpcs", "forceDestroy"}
        if other_changes:
            super().update(id_, state, news, other_changes)
        if "comment" in changed:
            self.route53.update_hosted_zone_comment(Id=id_, Comment=news.get("comment", ""))
        if "vpcs" in changed:
            before = {vpc["vpcId"]: self._vpc(vpc) for vpc in state.get("vpcs") or []}
            after = {vpc["vpcId"]: self._vpc(vpc) for vpc in news.get("vpcs") or []}
            # AWS refuses to remove the last VPC: add new VPCs first.
            for key in sorted(set(after) - set(before)):
                self.route53.associate_vpc_with_hosted_zone(HostedZoneId=id_, VPC=after[key])
            for key in sorted(set(before) - set(after)):
                self.route53.disassociate_vpc_from_hosted_zone(HostedZoneId=id_, VPC=before[key])
        self._tag(id_, state.get("tags") or {}, news.get("tags") or {})
        return {key: state[key] for key in ("zoneId", "arn", "nameServers")}

    def delete(self, id_: str, state: Bag) -> None:
        if state.get("forceDestroy"):
            self._empty(id_)
        ignore_missing(self.route53.delete_hosted_zone, Id=id_)

    def _vpc(self, vpc: Bag) -> dict[str, str]:
        return {"VPCId": vpc["vpcId"], "VPCRegion": vpc.get("vpcRegion") or self.cloud.region}

    def _tag(self, id_: str, before: Bag, after: Bag) -> None:
        dropped = [key for key in before if key not in after]
        if before == after:
            return
        removal: dict[str, Any] = {"RemoveTagKeys": dropped} if dropped else {}
        self.route53.change_tags_for_resource(
            ResourceType="hostedzone", ResourceId=id_, AddTags=tag_list(after), **removal
        )

    def _empty(self, id_: str) -> None:
        """Delete every record except the default NS and SOA, as the real provider does with `forceDestroy`."""
        sets = first_or_none(
            lambda **named: {"it": [self.route53.list_resource_record_sets(**named)["ResourceRecordSets"]]},
            "it",
            HostedZoneId=id_,
        )
        record_sets = [row for row in sets or [] if row["Type"] not in ("NS", "SOA")]
        if record_sets:
            batch = {"Changes": [{"Action": "DELETE", "ResourceRecordSet": record_set} for record_set in record_sets]}
            self.route53.change_resource_record_sets(HostedZoneId=id_, ChangeBatch=batch)


class DnsRecordResource(AwsResource):
    """Route 53 record with values and a time to live; alias and routing policy are not supported."""

    token = "aws:route53/record:Record"
    cloudformation = CloudFormationType(
        "AWS::Route53::RecordSet", names={"records": "ResourceRecords", "zoneId": "HostedZoneId"}
    )
    replaces = frozenset({"name", "type", "zoneId", "setIdentifier"})

    @property
    def route53(self) -> Any:
        return self.cloud.client("route53")

    def create(self, news: Bag) -> tuple[str, Bag]:
        if not news.get("records") or "ttl" not in news:
            raise ProviderError("the sandbox has records with values and a ttl only")
        self._change("UPSERT" if news.get("allowOverwrite") else "CREATE", news)
        return f"{news['zoneId']}_{news['name']}_{news['type']}", {"fqdn": news["name"].rstrip(".")}

    def read(self, id_: str, state: Bag) -> Bag | None:
        sets = first_or_none(
            lambda **named: {"it": [self.route53.list_resource_record_sets(**named)["ResourceRecordSets"]]},
            "it",
            HostedZoneId=state["zoneId"],
            StartRecordName=state["name"],
            StartRecordType=state["type"],
        )
        key = (state["name"].rstrip("."), state["type"])
        record_set = next((row for row in sets or [] if (row["Name"].rstrip("."), row["Type"]) == key), None)
        if record_set is None:
            return None
        values = [record["Value"] for record in record_set["ResourceRecords"]]
        return {"name": state["name"], "type": record_set["Type"], "ttl": record_set["TTL"], "records": values}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        other_changes = changed - {"records", "ttl", "allowOverwrite"}
        if other_changes:
            super().update(id_, state, news, other_changes)
        self._change("UPSERT", news)
        return {"fqdn": state["fqdn"]}

    def delete(self, id_: str, state: Bag) -> None:
        if self.read(id_, state) is not None:
            self._change("DELETE", state)

    def _change(self, action: str, bag: Bag) -> None:
        values = [{"Value": value} for value in bag["records"]]
        record = {"Name": bag["name"], "Type": bag["type"], "TTL": int(bag["ttl"]), "ResourceRecords": values}
        batch = {"Changes": [{"Action": action, "ResourceRecordSet": record}]}
        self.route53.change_resource_record_sets(HostedZoneId=bag["zoneId"], ChangeBatch=batch)
