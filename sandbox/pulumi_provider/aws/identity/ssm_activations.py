"""Systems Manager hybrid activations."""

from typing import Any

from botocore.exceptions import ClientError

from sandbox.pulumi_provider.aws.base import AwsResource, Bag, error_code, tag_list, tag_map


class SsmActivationResource(AwsResource):
    """Hybrid activation; it cannot be changed, and only its creation returns the activation code."""

    token = "aws:ssm/activation:Activation"
    cloudformation = None

    @classmethod
    def replaced_by(cls, olds: Bag, news: Bag, changed: frozenset[str]) -> frozenset[str]:
        return changed

    @property
    def ssm(self) -> Any:
        return self.cloud.client("ssm")

    def create(self, news: Bag) -> tuple[str, Bag]:
        names = {
            "name": "DefaultInstanceName",
            "description": "Description",
            "expirationDate": "ExpirationDate",
            "registrationLimit": "RegistrationLimit",
        }
        request = {names[key]: news[key] for key in names if news.get(key) is not None}
        response = self.ssm.create_activation(IamRole=news["iamRole"], Tags=tag_list(news.get("tags")), **request)
        id_ = self.exists(response["ActivationId"])
        return id_, {**(self.read(id_, news) or {}), "activationCode": response["ActivationCode"]}

    def read(self, id_: str, state: Bag) -> Bag | None:
        filters = [{"FilterKey": "ActivationIds", "FilterValues": [id_]}]
        items = self.ssm.describe_activations(Filters=filters)["ActivationList"]
        if not items:
            return None
        (item,) = items
        return {
            "name": item.get("DefaultInstanceName") or None,
            "description": item.get("Description") or None,
            "iamRole": item["IamRole"],
            "registrationLimit": item["RegistrationLimit"],
            "registrationCount": item["RegistrationsCount"],
            "expired": item["Expired"],
            "expirationDate": item["ExpirationDate"].strftime("%Y-%m-%dT%H:%M:%SZ"),
            "tags": tag_map(item.get("Tags")),
        }

    def delete(self, id_: str, state: Bag) -> None:
        try:
            self.ssm.delete_activation(ActivationId=id_)
        except ClientError as error:
            if error_code(error) != "InvalidActivation":
                raise
