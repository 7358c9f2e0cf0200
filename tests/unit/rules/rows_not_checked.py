"""Mistakes that cannot be written: the environment file has no key for them."""

from tests.unit.rules.row import NotChecked


def cannot(title: str, example: str, reason: str) -> NotChecked:
    """Return a mistake that cannot be written."""
    return NotChecked(title, "cannot be written", example, reason)


ROWS = [
    cannot("security groups on the instance and on its interfaces", "SecurityGroupIds beside NetworkInterfaces", "security groups belong to a pool, and every interface has them"),
    cannot("a market with the name of another API", "MarketType: capacity_block", "the kind of a capacity determines AWS's values"),
    cannot("a node group with a Capacity Block and without a launch template", "capacityType: CAPACITY_BLOCK", "every pool has a launch template, derived from its capacity"),
    cannot("a placement group with a Capacity Block", "placement group on the launch template of a block", "a launch into a block has no placement group; check reports a named one"),
    cannot("a statement without resources", "Effect: Allow, Action: s3:GetObject", "resources are required, and hold at least one"),
    cannot("all except some actions", "NotAction: iam:*", "actions are listed; an action that is not listed is not allowed"),
    cannot("all except some resources", "NotResource: arn:aws:s3:::secrets/*", "resources are listed; exceptions are statements with Deny"),
    cannot("a role that everyone may assume", "Principal: '*' in a trust policy", "Landbridge writes the trust policies: EC2, or certificates of named hosts"),
    cannot("another launch in the dry run than in production", "a dry run with DeviceIndex 0 for all", "one function computes the interfaces of both"),
    cannot("a cluster's name too long for accounting", "a name of 45 characters", "an environment's name has 24 characters at most"),
    cannot("a role's name too long", "a role of 70 characters", "a name is the environment's name and one word, always below 64 characters"),
    cannot("unencrypted volumes and file systems", "Encrypted: false", "everything that Landbridge creates is encrypted; there is no key for it"),
    cannot("an EBS volume that many nodes mount", "MultiAttachEnabled: true", "existing file systems are FSx or EFS: EBS Multi-Attach needs a cluster file system"),
    cannot("instance metadata without tokens", "HttpTokens: optional", "tokens are always required; only imds_hop_limit can be set"),
    cannot("a security group without the rule to itself", "EFA nodes in a group of ssh alone", "a pool's own group always has it, in and out"),
    cannot("FSx for Lustre without its second range of ports", "988 alone", "the ports of each kind of storage are opened together: 988 and 1018 to 1023"),
    cannot("a backup of a scratch file system by a policy", "AutomaticBackupRetentionDays on SCRATCH_2", "check compares backup_days with the deployment"),
    cannot("the newest image at every up", "ImageId: resolve:ssm:…/latest at apply", "names are resolved by `landbridge lock` and committed"),
    cannot("a VPN with static routes", "StaticRoutesOnly: true", "the link is BGP, so that a lost tunnel is noticed"),
    cannot("one tunnel configured of two", "tunnel1 alone on our gateway", "both are rendered from the stack's outputs; the userspace datapath, which has one, is a warning"),
    cannot("a Slurm key in the image, in user data or in an export", "MUNGE_KEY in cloud-init", "nodes fetch it from Secrets Manager with their role"),
    cannot("access keys for nodes or services", "aws_access_key_id in a file", "nodes have a role, and on-prem services certificates; a key in the file is an error"),
    cannot("a bucket that the public reads", "ACL: public-read", "buckets block public access, also by ACLs of objects"),
    cannot("an instance without an owner", "RunInstances without tags", "the launch itself sets the tags"),
    cannot("zones by their position in a list", "subnets[2]", "zones are named by id"),
    cannot("rules written for another cluster's slurm.conf", "nodes of facts gathered from hosts that answer", "slurm.conf is rendered from the environment alone"),
]  # fmt: skip
