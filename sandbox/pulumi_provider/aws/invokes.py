"""Provider functions (invokes) of the SDK that read the account, the region, parameters, subnets and endpoint services."""

from botocore.exceptions import ClientError

from sandbox.pulumi_provider.aws.base import Bag, EmulatedAws, ProviderError


def invoke(cloud: EmulatedAws, token: str, arguments: Bag) -> Bag:
    """Return the answer of a provider function."""
    match token:
        case "aws:index/getCallerIdentity:getCallerIdentity":
            identity = cloud.client("sts").get_caller_identity()
            account = identity["Account"]
            return {"id": account, "accountId": account, "arn": identity["Arn"], "userId": identity["UserId"]}
        case "aws:index/getPartition:getPartition":
            return {"id": "aws", "partition": "aws", "dnsSuffix": "amazonaws.com", "reverseDnsPrefix": "com.amazonaws"}
        case "aws:index/getRegion:getRegion":
            name = cloud.region
            return {
                "id": name,
                "name": name,
                "region": name,
                "endpoint": f"ec2.{name}.amazonaws.com",
                "description": name,
            }
        case "aws:ssm/getParameter:getParameter":
            try:
                parameter = cloud.client("ssm").get_parameter(Name=arguments["name"])["Parameter"]
            except ClientError as error:
                raise ProviderError(f"no parameter {arguments['name']}: {error}") from None
            known = {"type": parameter["Type"], "version": parameter["Version"], "arn": parameter["ARN"]}
            return {"id": parameter["Name"], "name": parameter["Name"], "value": parameter["Value"], **known}
        case "aws:ec2/getSubnet:getSubnet":
            try:
                (subnet,) = cloud.client("ec2").describe_subnets(SubnetIds=[arguments["id"]])["Subnets"]
            except ClientError as error:
                raise ProviderError(f"no subnet {arguments['id']}: {error}") from None
            return {
                "id": subnet["SubnetId"],
                "vpcId": subnet["VpcId"],
                "cidrBlock": subnet["CidrBlock"],
                "availabilityZone": subnet["AvailabilityZone"],
                "availabilityZoneId": subnet["AvailabilityZoneId"],
            }
        case "aws:ec2/getVpcEndpointService:getVpcEndpointService":
            names = [arguments["serviceName"]]
            (service,) = cloud.client("ec2").describe_vpc_endpoint_services(ServiceNames=names)["ServiceDetails"]
            return {"id": names[0], "serviceName": names[0], "availabilityZones": service["AvailabilityZones"]}
        case _:
            raise ProviderError(f"the sandbox has no answer to {token}")
