"""Changes as the engine reports them in a preview, with the effect of each."""

from landbridge.catalog.aws.impact import Effect
from tests.unit.ops.steps_impact import (
    BUCKET,
    DATABASE,
    EFS,
    INSTANCE,
    LIFECYCLE,
    LUSTRE,
    RULE,
    TEMPLATE,
    VOLUME,
    ZFS,
    Row,
    lifecycle,
    replaced,
    sized,
    step,
)

#: Changes that have cost users their data.
LOST = [
    Row(
        "a managed Lustre moves to another subnet",
        replaced(LUSTRE, "hybrid-scratch", "subnetIds"),
        Effect.DATA_LOSS,
        "export what is not in the bucket",
        "aws-parallelcluster issue 4651: an update replaced the managed file system",
    ),
    Row(
        "a share's entry is removed from the file",
        (step("delete", EFS, "hybrid-shared", old={"encrypted": True}),),
        Effect.DATA_LOSS,
        "every file in it",
        "what aws-parallelcluster's DeletionPolicyValidator warns of",
    ),
    Row(
        "a newer image for an instance with disks",
        replaced(INSTANCE, "hybrid-controller", "ami"),
        Effect.DATA_LOSS,
        "instance store",
        "aws-parallelcluster issues 5295 and 4751: a reboot replaced the node",
    ),
    Row(
        "new user data for the instance that stores the metrics",
        replaced(INSTANCE, "hybrid-login", "userData", "userDataReplaceOnChange"),
        Effect.DATA_LOSS,
        "its disks",
        "PCS samples: Prometheus runs on the login node, and its data is lost with it",
    ),
    Row(
        "Lustre becomes smaller",
        replaced(
            LUSTRE, "hybrid-scratch", "storageCapacity", old={"storageCapacity": 4800}, new={"storageCapacity": 2400}
        ),
        Effect.DATA_LOSS,
        "storageCapacity cannot change in place",
        "FSx never shrinks a file system: the provider creates a new one",
    ),
]

#: Changes that AWS refuses in the middle of `up`.
REFUSED = [
    Row(
        "the database becomes smaller",
        sized(DATABASE, "hybrid-accounting", "allocatedStorage", 100, 50),
        Effect.REFUSED,
        "You can't reduce the amount of storage",
    ),
    Row(
        "the database grows by a twentieth",
        sized(DATABASE, "hybrid-accounting", "allocatedStorage", 100, 105),
        Effect.REFUSED,
        "by at least 10 percent",
        "cloud-platform-environments pull requests 24410 and 24422",
    ),
    Row(
        "a volume becomes smaller",
        sized(VOLUME, "hybrid-state", "size", 30, 20),
        Effect.REFUSED,
        "equal to the existing size",
    ),
    Row(
        "a root volume becomes smaller",
        sized(INSTANCE, "hybrid-login", "rootBlockDevice", {"volumeSize": 50}, {"volumeSize": 40}, ".volumeSize"),
        Effect.REFUSED,
        "equal to the existing size",
    ),
    Row(
        "OpenZFS grows by a twentieth",
        sized(ZFS, "h-home", "storageCapacity", 1000, 1050),
        Effect.REFUSED,
        "10 percent",
    ),
    Row(
        "a Lustre of the first kind grows",
        (
            step(
                "update",
                LUSTRE,
                "h-scratch",
                diff={"storageCapacity": "update"},
                old={"storageCapacity": 1200, "deploymentType": "SCRATCH_1"},
                new={"storageCapacity": 2400, "deploymentType": "SCRATCH_1"},
            ),
        ),
        Effect.REFUSED,
        "SCRATCH_1",
    ),
]

ROWS = [
    *LOST,
    *REFUSED,
    Row(
        "the database grows by a tenth",
        sized(DATABASE, "hybrid-accounting", "allocatedStorage", 100, 110),
        Effect.IN_PLACE,
        "within 6 hours after the last change of its size; Landbridge does not know that time",
    ),
    Row(
        "EFS gets another throughput mode",
        sized(EFS, "hybrid-shared", "throughputMode", "elastic", "bursting"),
        Effect.IN_PLACE,
        "AWS refuses it within 24 hours after the last change of throughputMode; Landbridge does not know that time",
    ),
    Row(
        "EFS gets less throughput",
        sized(EFS, "hybrid-shared", "provisionedThroughputInMibps", 200, 100),
        Effect.IN_PLACE,
        "AWS refuses it within 24 hours after the last change",
    ),
    Row(
        "a volume grows again",
        sized(VOLUME, "hybrid-state", "size", 31, 32),
        Effect.IN_PLACE,
        "AWS refuses it after 4 changes within 24 hours; Landbridge does not know that time",
    ),
    Row(
        "a volume gets another throughput",
        sized(VOLUME, "hybrid-state", "throughput", 125, 250),
        Effect.IN_PLACE,
        "AWS refuses it after 4 changes within 24 hours; Landbridge does not know that time",
    ),
    Row("a volume grows", sized(VOLUME, "hybrid-state", "size", 30, 31), Effect.IN_PLACE, "grow the file system on it"),
    Row(
        "a root volume gets another tag",
        sized(
            INSTANCE,
            "hybrid-login",
            "rootBlockDevice",
            {"volumeSize": 50},
            {"volumeSize": 50, "tags": {"a": "b"}},
            ".tags",
        ),
        Effect.IN_PLACE,
        "nothing to do",
    ),
    Row(
        "Lustre grows",
        sized(LUSTRE, "hybrid-scratch", "storageCapacity", 4800, 7200),
        Effect.IN_PLACE,
        "within 6 hours after the last change of its size; Landbridge does not know that time",
    ),
    Row("a tag", (step("update", BUCKET, "h", diff={"tags.a": "add"}),), Effect.NONE, "nothing to do"),
    Row("a pool is added", (step("create", TEMPLATE, "h-g6e", new={"imageId": "ami-1"}),), Effect.NONE, "new"),
    Row(
        "a newer image for the pool",
        (step("update", TEMPLATE, "h-p5", diff={"imageId": "update"}),),
        Effect.DRAIN,
        "when their jobs end",
    ),
    Row(
        "a bigger disk, from a provider without a detailed difference",
        (step("update", TEMPLATE, "h-p5", diffs=["blockDeviceMappings"], old={}, new={"blockDeviceMappings": [{}]}),),
        Effect.DRAIN,
        "new ones have the new",
    ),
    Row(
        "other interfaces",
        (step("update", TEMPLATE, "h-p5", diff={"networkInterfaces[3].interfaceType": "update", "tags.x": "add"}),),
        Effect.DRAIN,
        "do not mix both in one job",
    ),
    Row(
        "a larger instance for the controller",
        (step("update", INSTANCE, "h-controller", diff={"instanceType": "update"}),),
        Effect.STOP_POOL,
        "stops for minutes",
    ),
    Row(
        "the volume with Slurm's state is deleted",
        (step("delete", VOLUME, "h-controller-state", old={"size": 50}),),
        Effect.DATA_LOSS,
        "everything on it",
    ),
    Row(
        "a new series of the accounting database",
        (
            step(
                "update",
                DATABASE,
                "h-accounting",
                diff={"engineVersion": "update", "parameterGroupName": "update"},
                old={"engineVersion": "11.4"},
                new={"engineVersion": "11.8"},
            ),
        ),
        Effect.STOP_POOL,
        "slurmctld keeps records",
    ),
    Row(
        "accounting without backups",
        (
            step(
                "update",
                DATABASE,
                "h-accounting",
                diff={"backupRetentionPeriod": "update"},
                old={"backupRetentionPeriod": 14},
                new={"backupRetentionPeriod": 0},
            ),
        ),
        Effect.DATA_LOSS,
        "every automatic backup",
    ),
    Row(
        "another instance type",
        (step("update", TEMPLATE, "h-p5", diff={"instanceType": "update", "imageId": "update"}),),
        Effect.STOP_POOL,
        "landbridge configure",
    ),
    Row(
        "a placement group with another name",
        replaced("aws:ec2/placementGroup:PlacementGroup", "h-p5-use1-az4", "name"),
        Effect.STOP_POOL,
        "power the pool's nodes down",
    ),
    Row(
        "a pool is renamed: its security group is deleted",
        (step("delete", "aws:ec2/securityGroup:SecurityGroup", "h-p5", old={"name": "h-p5"}),),
        Effect.STOP_POOL,
        "interfaces use",
    ),
    Row(
        "one more port for operators",
        (step("update", RULE, "h-p5-ssh", diff={"toPort": "update"}),),
        Effect.IN_PLACE,
        "",
    ),
    Row(
        "the rule between the nodes is deleted",
        (step("delete", RULE, "h-p5-self", old={"referencedSecurityGroupId": "sg-1", "ipProtocol": "-1"}),),
        Effect.STOP_POOL,
        "NCCL",
    ),
    Row(
        "another gateway address",
        replaced("aws:ec2/customerGateway:CustomerGateway", "h", "ipAddress"),
        Effect.REPLACE,
        "without a tunnel",
    ),
    Row(
        "the VPN is replaced",
        replaced("aws:ec2/vpnConnection:VpnConnection", "h", "customerGatewayId"),
        Effect.REPLACE,
        "the site is dark",
    ),
    Row(
        "the VPC gets another range",
        replaced("aws:ec2/vpc:Vpc", "h", "cidrBlock"),
        Effect.STOP_POOL,
        "delete the VPC's nodes",
    ),
    Row(
        "Lustre grows",
        (step("update", LUSTRE, "h", diff={"storageCapacity": "update"}),),
        Effect.IN_PLACE,
        "never shrinks",
    ),
    Row(
        "Lustre gets faster",
        (step("update", LUSTRE, "h", diff={"perUnitStorageThroughput": "update"}),),
        Effect.DRAIN,
        "clients wait",
    ),
    Row(
        "no automatic backups any more",
        (
            step(
                "update",
                ZFS,
                "h",
                diff={"automaticBackupRetentionDays": "update"},
                old={"automaticBackupRetentionDays": 30},
                new={"automaticBackupRetentionDays": 0},
            ),
        ),
        Effect.DATA_LOSS,
        "every automatic backup is deleted",
    ),
    Row(
        "a bucket with another name",
        replaced(BUCKET, "h-internal", "bucket", old={"bucket": "a"}, new={"bucket": "b"}),
        Effect.DATA_LOSS,
        "every object and version",
    ),
    Row(
        "a bucket that Pulumi only removes from its state",
        (step("delete", BUCKET, "h-internal", old={"bucket": "a"}, retain=True),),
        Effect.REPLACE,
        "stays in AWS",
    ),
    Row(
        "the policy of a protected bucket is deleted",
        (step("delete", "aws:s3/bucketPolicy:BucketPolicy", "h-internal", old={"policy": "{}"}, protect=True),),
        Effect.DATA_LOSS,
        "pulumi state unprotect",
    ),
    Row(
        "old versions are deleted earlier",
        (step("update", LIFECYCLE, "h", diff={"rules[0]": "update"}, old=lifecycle(90), new=lifecycle(7)),),
        Effect.DATA_LOSS,
        "within a day",
    ),
    Row(
        "old versions stay longer",
        (step("update", LIFECYCLE, "h", diff={"rules[0]": "update"}, old=lifecycle(7), new=lifecycle(90)),),
        Effect.IN_PLACE,
        "",
    ),
    Row(
        "a data class is removed from AWS: its key is deleted",
        (step("delete", "aws:kms/key:Key", "h-internal", old={"policy": "{}"}),),
        Effect.DATA_LOSS,
        "cannot be read after its deletion",
    ),
    Row(
        "Slurm's key gets another name",
        replaced("aws:secretsmanager/secret:Secret", "h-slurm-key", "name"),
        Effect.DATA_LOSS,
        "publish the value",
    ),
    Row(
        "a role may do less",
        (step("update", "aws:iam/rolePolicy:RolePolicy", "h-node", diff={"policy": "update"}),),
        Effect.IN_PLACE,
        "",
    ),
    Row(
        "a resource of an unknown type is deleted",
        (step("delete", "aws:unheard/of:Of", "h", old={"a": 1}),),
        Effect.DATA_LOSS,
        "does not know whether",
    ),
    Row(
        "a component is renamed",
        (step("delete", "landbridge:index:Pool", "h", old={}),),
        Effect.NONE,
        "not in AWS",
    ),
]
