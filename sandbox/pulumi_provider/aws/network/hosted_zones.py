"""Route 53 private hosted zones and records."""

import time
import uuid
from typing import Any

from sandbox.pulumi_provider.aws.base import (
    AwsResource,
    Bag,
    CloudFormationType,
    ProviderError,
    found,
    gone,
    tag_list,
    tag_map,
)


class HostedZoneResource(AwsResource):
    """Private ones only: a public one would need a registrar."""

    token = "aws:route53/zone:Zone"
    cloudformation = CloudFormationType("AWS::Route53::HostedZone")
    replaces = frozenset({"name", "delegationSetId"})

    @property
    def names(self) -> Any:
        return self.cloud.client("route53")

    def create(self, news: Bag) -> tuple[str, Bag]:
        vpcs = [self._vpc(vpc) for vpc in news.get("vpcs") or []]
        if not vpcs:
            raise ProviderError("the sandbox has private zones only: name a VPC")
        response = self.names.create_hosted_zone(
            Name=news["name"],
            CallerReference=f"{uuid.uuid4()}-{time.time_ns()}",
            HostedZoneConfig={"Comment": news.get("comment", "Managed by Pulumi"), "PrivateZone": True},
            VPC=vpcs[0],
        )
        id_ = str(response["HostedZone"]["Id"]).rpartition("/")[2]
        for more in vpcs[1:]:
            self.names.associate_vpc_with_hosted_zone(HostedZoneId=id_, VPC=more)
        self._tag(id_, {}, news.get("tags") or {})
        servers = response.get("DelegationSet", {}).get("NameServers", [])
        return id_, {"zoneId": id_, "arn": f"arn:aws:route53:::hostedzone/{id_}", "nameServers": servers}

    def read(self, id_: str, state: Bag) -> Bag | None:
        zone = found(lambda **named: {"it": [self.names.get_hosted_zone(**named)]}, "it", Id=id_)
        if zone is None:
            return None
        tags = self.names.list_tags_for_resource(ResourceType="hostedzone", ResourceId=id_)["ResourceTagSet"]["Tags"]
        return {
            "name": zone["HostedZone"]["Name"].rstrip("."),
            "comment": zone["HostedZone"]["Config"].get("Comment"),
            "vpcs": [{"vpcId": one["VPCId"]} for one in zone["VPCs"]],
            "tags": tag_map(tags),
        }

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        rest = changed - {"tags", "comment", "vpcs", "forceDestroy"}
        if rest:
            super().update(id_, state, news, rest)
        if "comment" in changed:
            self.names.update_hosted_zone_comment(Id=id_, Comment=news.get("comment", ""))
        if "vpcs" in changed:
            before = {vpc["vpcId"]: self._vpc(vpc) for vpc in state.get("vpcs") or []}
            after = {vpc["vpcId"]: self._vpc(vpc) for vpc in news.get("vpcs") or []}
            # AWS refuses to remove the last one: add new ones first.
            for key in sorted(set(after) - set(before)):
                self.names.associate_vpc_with_hosted_zone(HostedZoneId=id_, VPC=after[key])
            for key in sorted(set(before) - set(after)):
                self.names.disassociate_vpc_from_hosted_zone(HostedZoneId=id_, VPC=before[key])
        self._tag(id_, state.get("tags") or {}, news.get("tags") or {})
        return {key: state[key] for key in ("zoneId", "arn", "nameServers")}

    def delete(self, id_: str, state: Bag) -> None:
        if state.get("forceDestroy"):
            self._empty(id_)
        gone(self.names.delete_hosted_zone, Id=id_)

    def _vpc(self, one: Bag) -> dict[str, str]:
        return {"VPCId": one["vpcId"], "VPCRegion": one.get("vpcRegion") or self.cloud.region}

    def _tag(self, id_: str, before: Bag, after: Bag) -> None:
        dropped = [key for key in before if key not in after]
        if before == after:
            return
        more: dict[str, Any] = {"RemoveTagKeys": dropped} if dropped else {}
        self.names.change_tags_for_resource(ResourceType="hostedzone", ResourceId=id_, AddTags=tag_list(after), **more)

    def _empty(self, id_: str) -> None:
        """As the real provider does with `forceDestroy`: every record goes, but for those that a zone is made with."""
        sets = found(
            lambda **named: {"it": [self.names.list_resource_record_sets(**named)["ResourceRecordSets"]]},
            "it",
            HostedZoneId=id_,
        )
        record_sets = [one for one in sets or [] if one["Type"] not in ("NS", "SOA")]
        if record_sets:
            batch = {"Changes": [{"Action": "DELETE", "ResourceRecordSet": record_set} for record_set in record_sets]}
            self.names.change_resource_record_sets(HostedZoneId=id_, ChangeBatch=batch)


class DnsRecordResource(AwsResource):
    """A record with values and a time to live; no alias and no routing policy."""

    token = "aws:route53/record:Record"
    cloudformation = CloudFormationType(
        "AWS::Route53::RecordSet", names={"records": "ResourceRecords", "zoneId": "HostedZoneId"}
    )
    replaces = frozenset({"name", "type", "zoneId", "setIdentifier"})

    @property
    def names(self) -> Any:
        return self.cloud.client("route53")

    def create(self, news: Bag) -> tuple[str, Bag]:
        if not news.get("records") or "ttl" not in news:
            raise ProviderError("the sandbox has records with values and a ttl only")
        self._change("UPSERT" if news.get("allowOverwrite") else "CREATE", news)
        return f"{news['zoneId']}_{news['name']}_{news['type']}", {"fqdn": news["name"].rstrip(".")}

    def read(self, id_: str, state: Bag) -> Bag | None:
        sets = found(
            lambda **named: {"it": [self.names.list_resource_record_sets(**named)["ResourceRecordSets"]]},
            "it",
            HostedZoneId=state["zoneId"],
            StartRecordName=state["name"],
            StartRecordType=state["type"],
        )
        wanted = (state["name"].rstrip("."), state["type"])
        one = next((own for own in sets or [] if (own["Name"].rstrip("."), own["Type"]) == wanted), None)
        if one is None:
            return None
        values = [record["Value"] for record in one["ResourceRecords"]]
        return {"name": state["name"], "type": one["Type"], "ttl": one["TTL"], "records": values}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        rest = changed - {"records", "ttl", "allowOverwrite"}
        if rest:
            super().update(id_, state, news, rest)
        self._change("UPSERT", news)
        return {"fqdn": state["fqdn"]}

    def delete(self, id_: str, state: Bag) -> None:
        if self.read(id_, state) is not None:
            self._change("DELETE", state)

    def _change(self, action: str, bag: Bag) -> None:
        values = [{"Value": value} for value in bag["records"]]
        record = {"Name": bag["name"], "Type": bag["type"], "TTL": int(bag["ttl"]), "ResourceRecords": values}
        batch = {"Changes": [{"Action": action, "ResourceRecordSet": record}]}
        self.names.change_resource_record_sets(HostedZoneId=bag["zoneId"], ChangeBatch=batch)
