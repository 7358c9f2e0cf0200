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

    def _kept(self, id_: str, subnet: str) -> Any | None:
        every = self.ec2.get_subnet_cidr_reservations(SubnetId=subnet)["SubnetIpv4CidrReservations"]
        return next((one for one in every if one["SubnetCidrReservationId"] == id_), None)

    def read(self, id_: str, state: Bag) -> Bag | None:
        kept = self._kept(id_, state["subnetId"])
        return None if kept is None else {"cidrBlock": kept["Cidr"], "reservationType": kept["ReservationType"]}

    def delete(self, id_: str, state: Bag) -> None:
        if self._kept(id_, state["subnetId"]) is not None:
            self.ec2.delete_subnet_cidr_reservation(SubnetCidrReservationId=id_)
