"""Subnet CIDR reservations."""

from typing import Any

from sandbox.pulumi_provider.aws.base import AwsResource, Bag, CloudFormationType


class SubnetCidrReservationResource(AwsResource):
    token = "aws:ec2/subnetCidrReservation:SubnetCidrReservation"
    cloudformation = CloudFormationType("AWS::EC2::SubnetCidrReservation", names={"cidrBlock": "Cidr"})
    replaces = frozenset({"subnetId", "cidrBlock", "reservationType", "description"})

    def create(self, news: Bag) -> tuple[str, Bag]:
        subnet_cidr_reservation = self.ec2.create_subnet_cidr_reservation(
            SubnetId=news["subnetId"],
            Cidr=news["cidrBlock"],
            ReservationType=news["reservationType"],
            Description=news.get("description", ""),
        )["SubnetCidrReservation"]
        return subnet_cidr_reservation["SubnetCidrReservationId"], {"ownerId": self.cloud.account}

    def _reservation(self, id_: str, subnet: str) -> Any | None:
        reservations = self.ec2.get_subnet_cidr_reservations(SubnetId=subnet)["SubnetIpv4CidrReservations"]
        return next((row for row in reservations if row["SubnetCidrReservationId"] == id_), None)

    def read(self, id_: str, state: Bag) -> Bag | None:
        item = self._reservation(id_, state["subnetId"])
        if item is None:
            return None
        owner = self.cloud.account
        return {"cidrBlock": item["Cidr"], "reservationType": item["ReservationType"], "ownerId": owner}

    def delete(self, id_: str, state: Bag) -> None:
        if self._reservation(id_, state["subnetId"]) is not None:
            self.ec2.delete_subnet_cidr_reservation(SubnetCidrReservationId=id_)
