"""What programs ask the provider for: facts about the account and the region."""

from sandbox.engine.aws.base import Bag, Cloud, Refused


def invoke(cloud: Cloud, token: str, arguments: Bag) -> Bag:
    """Answer a function of the SDK."""
    match token:
        case "aws:index/getCallerIdentity:getCallerIdentity":
            who = cloud.client("sts").get_caller_identity()
            account = who["Account"]
            return {"id": account, "accountId": account, "arn": who["Arn"], "userId": who["UserId"]}
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
        case _:
            raise Refused(f"the sandbox has no answer to {token}")
