"""Mistakes with the nodes' IAM permissions."""

from datetime import date
from typing import Any

from landbridge.findings import DataPath
from tests.unit.core.samples import GOOD, REMOVED
from tests.unit.rules.row import Row

IAM: DataPath = ("aws", "iam")
POOL_POLICIES: DataPath = ("aws", "pools", 0, "node_policies")
STATEMENTS: DataPath = (*IAM, "node_statements")
FIRST: DataPath = (*STATEMENTS, 0)
DATA = "arn:aws:s3:::data"
CUT = "-----BEGIN CERTIFICATE-----\nMIIB!\n-----END CERTIFICATE-----"
KEY = CUT.replace("CERTIFICATE", "PRIVATE " + "KEY")
#: CA certificate from January 2017, valid for 3650 days: until 2026-12-30.
AUTHORITY = (
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBZDCCAQugAwIBAgIUc/38VfEjAOIB3wrgjCLFcP4HtAcwCgYIKoZIzj0EAwIw\n"
    "DzENMAsGA1UEAwwEc2l0ZTAeFw0xNjEyMzEyMzU1MDBaFw0yNjEyMzAwMDAwMDBa\n"
    "MA8xDTALBgNVBAMMBHNpdGUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATcbokk\n"
    "0/WZdZ7noxFLTadNCuPNHp8Dvf64qZLnMIGp0fgfbStBNaNQWBxTa8Uw4Txz0ptM\n"
    "xoYKkJ9pfF5XdLBqo0UwQzASBgNVHRMBAf8ECDAGAQH/AgEAMA4GA1UdDwEB/wQE\n"
    "AwIBBjAdBgNVHQ4EFgQUwoep9LtafGGY69KL2P9F0dOlgnMwCgYIKoZIzj0EAwID\n"
    "RwAwRAIgBurtWOR54IWUHFpoHXXv+CG/gxnczGciaIvnHlFx5QQCIAEJMC/X6zup\n"
    "7kodZ4MiKzD4/Zd5dx7PtawwxsmeUPaV\n"
    "-----END CERTIFICATE-----\n"
)
#: CA certificate with the name R&D, until 2036-10-29.
AMPERSAND = (
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBZDCCAQmgAwIBAgIUd5wapS/LpbmpoX5Hvgnr+2Q5UkgwCgYIKoZIzj0EAwIw\n"
    "DjEMMAoGA1UEAwwDUiZEMB4XDTI2MTAzMTIzNTUwMFoXDTM2MTAyOTAwMDAwMFow\n"
    "DjEMMAoGA1UEAwwDUiZEMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEGWkr4wEK\n"
    "/6HIqwNQSjfk4EeU0/+NIOuwI2GY/8+AYS/VWJo++qBpuyjKBVVrb1LtoHbf80q+\n"
    "2OdTJQhrXzN9LaNFMEMwEgYDVR0TAQH/BAgwBgEB/wIBADAOBgNVHQ8BAf8EBAMC\n"
    "AQYwHQYDVR0OBBYEFIwniVidRnKmAy7q1GuJtDLmPlxRMAoGCCqGSM49BAMCA0kA\n"
    "MEYCIQC7mtHVDm8ZG+5wuu6PBLdtCDHOIet6vjqtt1lxiH/TZwIhAMjUlHwky8wZ\n"
    "jNauHLdfBKouKILQ9K6SFGFdvTtzD7ds\n"
    "-----END CERTIFICATE-----\n"
)
#: Certificate without CA:TRUE, valid from 2026 until 2036.
NO_AUTHORITY = (
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBHDCBw6ADAgECAgEBMAoGCCqGSM49BAMCMA8xDTALBgNVBAMMBHNpdGUwHhcN\n"
    "MjYwMTAxMDAwMDAwWhcNMzYwMTAxMDAwMDAwWjAPMQ0wCwYDVQQDDARzaXRlMFkw\n"
    "EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEk5FL2L693VRxLsjdsbOXwZDegB4qnSqt\n"
    "HflAeH5HWFGKhhXNe310nLsPoRc7APq23Cj0EriN/pGHbI9nuBkTvqMQMA4wDAYD\n"
    "VR0TAQH/BAIwADAKBggqhkjOPQQDAgNIADBFAiAkyo3hkHaLOPKRdtkbNU6OJyxF\n"
    "rCyFdBBRrKO97tAYIgIhAIiYFBDU6RziqKO8m9B+gVE18+TyeLKWizrAM3tyHVfe\n"
    "-----END CERTIFICATE-----\n"
)


def allow(actions: str | list[str], resources: str | list[str] = f"{DATA}/*", **more: Any) -> dict[DataPath, Any]:
    """Return the changes for one statement."""
    listed = [argument if isinstance(argument, list) else [argument] for argument in (actions, resources)]
    return {STATEMENTS: [{"actions": listed[0], "resources": listed[1], **more}]}


def when(operator: str, **keys: Any) -> dict[DataPath, Any]:
    """Return the changes for one condition; in keys a double underscore stands for the colon."""
    return allow(
        "s3:GetObject", conditions={operator: {key.replace("__", ":", 1): value for key, value in keys.items()}}
    )


ROWS = [
    Row("iam-action-form", "an action without its service", allow("GetObject"), (*FIRST, "actions", 0), "s3:GetObject"),
    Row("iam-action-form", "a resource as an action", allow(DATA), (*FIRST, "actions", 0), "a resource"),
    Row("iam-action-form", "a slash for the colon", allow("s3/GetObject"), (*FIRST, "actions", 0), "no service"),
    Row("iam-action-form", "an action with a space", allow("s3: GetObject"), (*FIRST, "actions", 0), "not an action"),
    Row("iam-unknown-action", "misspelt service", allow("secretmanager:GetSecretValue", "*", why="x"), (*FIRST, "actions", 0), '"secretsmanager:GetSecretValue"'),
    Row("iam-unknown-action", "misspelt action", allow("s3:GetObjects"), (*FIRST, "actions", 0), '"s3:GetObject"'),
    Row("iam-unknown-action", "an API's name that is not an action", allow("s3:ListObjectsV2", DATA), (*FIRST, "actions", 0), "no action"),
    Row("iam-unknown-action", "a pattern that matches nothing", allow("ec2:Descrbe*", "*", why="x"), (*FIRST, "actions", 0), "no action"),
    Row("iam-all-permissions", "Allow *", allow("*", "*", why="it is easier"), (*FIRST, "actions", 0), "the statement allows every job"),
    Row("iam-all-permissions", "Allow iam:*", allow("iam:*", "*", why="x"), (*FIRST, "actions", 0), "iam:* allows a job to give itself"),
    Row("iam-all-permissions", "a job may attach policies to roles", allow("iam:AttachRolePolicy", "*", why="x"), (*FIRST, "actions", 0), "iam:AttachRolePolicy allows a job to extend its"),
    Row("iam-all-permissions", "a job may pass any role", allow("iam:PassRole", "*", why="x"), (*FIRST, "actions", 0), "iam:PassRole allows a job to extend its"),
    Row("iam-all-permissions", "a pattern that matches CreateAccessKey", allow("iam:Create*", "*", why="x"), (*FIRST, "actions", 0), "iam:Create* allows a job to extend its"),
    Row("iam-wildcard", "every action of a service, and no reason", allow("s3:*"), (*FIRST, "actions", 0), "why"),
    Row("iam-wildcard", "every resource, and no reason", allow("s3:GetObject", "*"), (*FIRST, "resources", 0), "why"),
    Row("iam-needs-wildcard", "describing instances by ARN", allow("ec2:DescribeInstances", "arn:aws:ec2:us-east-1:123456789012:instance/*"), (*FIRST, "actions", 0), "with resources"),
    Row("iam-needs-wildcard", "a registry's token for one repository", allow("ecr:GetAuthorizationToken", "arn:aws:ecr:us-east-1:123456789012:repository/x"), (*FIRST, "actions", 0), "move it to"),
    Row("iam-bucket-or-object", "listing objects instead of the bucket", allow("s3:ListBucket"), (*FIRST, "actions", 0), DATA),
    Row("iam-bucket-or-object", "reading the bucket instead of its objects", allow("s3:GetObject", DATA), (*FIRST, "actions", 0), f"{DATA}/*"),
    Row("iam-resource-form", "a bucket by its URL", allow("s3:GetObject", "s3://data/*"), (*FIRST, "resources", 0), f"{DATA}/*"),
    Row("iam-resource-form", "a bucket by its name", allow("s3:GetObject", "data/*"), (*FIRST, "resources", 0), "neither * nor an ARN"),
    Row("iam-resource-form", "an ARN with a part too few", allow("s3:GetObject", "arn:aws:s3::data"), (*FIRST, "resources", 0), "arn:aws:s3:::data"),
    Row("iam-resource-form", "an account of eleven digits", allow("kms:Decrypt", "arn:aws:kms:us-east-1:12345678901x:key/x"), (*FIRST, "resources", 0), "neither"),
    Row("iam-partition", "a commercial ARN in GovCloud", allow("s3:GetObject"), (*FIRST, "resources", 0), "aws-us-gov", region="us-gov-west-1"),
    Row("iam-partition", "a commercial policy in China", {(*IAM, "node_policies"): ["arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"]}, (*IAM, "node_policies", 0), "aws-cn", region="cn-north-1"),
    Row("iam-other-account", "a key of another account", {**allow("kms:Decrypt", "arn:aws:kms:us-east-1:210987654321:key/x"), ("aws", "account"): "123456789012"}, (*FIRST, "resources", 0), "210987654321"),
    Row("iam-other-account", "a boundary of another account", {(*IAM, "permissions_boundary"): "arn:aws:iam::210987654321:policy/edge", ("aws", "account"): "123456789012"}, (*IAM, "permissions_boundary"), "210987654321"),
    Row("iam-arn-parts", "a bucket's ARN with a region", allow("s3:GetObject", "arn:aws:s3:us-east-1:123456789012:data/*"), (*FIRST, "resources", 0), "arn:aws:s3:::data/*"),
    Row("iam-arn-parts", "a key's ARN without an account", allow("kms:Decrypt", "arn:aws:kms:us-east-1::key/x"), (*FIRST, "resources", 0), "region and an account"),
    Row("iam-arn-parts", "a role's ARN with a region", allow("sts:AssumeRole", "arn:aws:iam:us-east-1:123456789012:role/x"), (*FIRST, "resources", 0), "no region"),
    Row("iam-arn-parts", "a misspelt service in an ARN", allow("kms:Decrypt", "arn:aws:kmss:us-east-1:123456789012:key/x"), (*FIRST, "resources", 0), '"kms"'),
    Row("iam-unknown-region", "a misspelt region in an ARN", allow("kms:Decrypt", "arn:aws:kms:us-eats-1:123456789012:key/x"), (*FIRST, "resources", 0), '"us-east-1"'),
    Row("iam-unknown-region", "a key in another region", allow("kms:Decrypt", "arn:aws:kms:us-west-2:123456789012:key/x"), (*FIRST, "resources", 0), "us-west-2"),
    Row("iam-other-service", "decrypting a bucket", allow(["s3:GetObject", "kms:Decrypt"]), (*FIRST, "actions", 1), "kms"),
    Row("iam-far-reaching", "every role of the account", allow("sts:AssumeRole", "*", why="x"), (*FIRST, "actions", 0), "sts:AssumeRole is"),
    Row("iam-far-reaching", "every bucket, also those of other environments", allow("s3:GetObject", "arn:aws:s3:::*/*"), (*FIRST, "actions", 0), "s3:GetObject is"),
    Row("iam-all-permissions", "any role to pass on, by an ARN", allow("iam:PassRole", "arn:aws:iam::123456789012:role/*", why="x"), (*FIRST, "actions", 0), "iam:PassRole allows a job to extend its"),
    Row("iam-far-reaching", "a node that may create users", allow("iam:CreateUser", "arn:aws:iam::123456789012:user/*"), (*FIRST, "actions", 0), "iam:CreateUser"),
    Row("iam-far-reaching", "every secret of the account", allow("secretsmanager:Get*", "*", why="x"), (*FIRST, "actions", 0), "GetSecretValue"),
    Row("iam-denies-required-action", "a statement that denies the nodes everything", allow("*", "*", effect="Deny"), (*FIRST, "actions", 0), "need to"),
    Row("iam-repeated", "an action twice", allow(["s3:GetObject", "s3:getobject"]), (*FIRST, "actions", 1), "s3:getobject is repeated"),
    Row("iam-repeated", "a statement twice", {STATEMENTS: [{"actions": ["s3:GetObject"], "resources": [f"{DATA}/*"], "why": why} for why in ("a", "b")]}, (*STATEMENTS, 1), "this statement is a repetition of an"),
    Row("iam-condition-operator", "misspelt operator", when("StringEqual", aws__SourceVpc="vpc-1"), (*FIRST, "conditions", "StringEqual"), '"StringEquals"'),
    Row("iam-condition-operator", "a condition operator without a key", when("StringEquals"), (*FIRST, "conditions", "StringEquals"), "the condition StringEquals has no key"),
    Row("iam-condition-key", "misspelt condition key", when("StringEquals", aws__SourceVcp="vpc-1"), (*FIRST, "conditions", "StringEquals", "aws:SourceVcp"), '"aws:SourceVpc"'),
    Row("iam-condition-key", "a condition key without a service", when("StringEquals", SourceVpc="vpc-1"), (*FIRST, "conditions", "StringEquals", "SourceVpc"), "no service"),
    Row("iam-condition-key", "a tag's condition without the tag", when("StringEquals", aws__ResourceTag="x"), (*FIRST, "conditions", "StringEquals", "aws:ResourceTag"), "aws:ResourceTag has no tag key"),
    Row("iam-condition-value", "an invalid range of addresses", when("IpAddress", aws__SourceIp="10.0.0.0/33"), (*FIRST, "conditions", "IpAddress", "aws:SourceIp"), "not a CIDR range"),
    Row("iam-condition-value", "yes for true", when("Bool", aws__SecureTransport="yes"), (*FIRST, "conditions", "Bool", "aws:SecureTransport"), "neither true nor false"),
    Row("iam-condition-value", "a date in words", when("DateLessThan", aws__CurrentTime="tomorrow"), (*FIRST, "conditions", "DateLessThan", "aws:CurrentTime"), "not a date"),
    Row("iam-condition-never-true", "a star that is a plain character", when("StringEquals", aws__PrincipalArn="arn:aws:iam::*:role/x"), (*FIRST, "conditions", "StringEquals", "aws:PrincipalArn"), "StringLike"),
    Row("iam-condition-never-true", "private addresses as aws:SourceIp", when("IpAddress", aws__SourceIp="10.0.0.0/8"), (*FIRST, "conditions", "IpAddress", "aws:SourceIp"), "aws:VpcSourceIp"),
    Row("iam-condition-never-true", "ForAllValues without the key", when("ForAllValues:StringEquals", aws__TagKeys=["a"]), (*FIRST, "conditions", "ForAllValues:StringEquals", "aws:TagKeys"), "Null"),
    Row("too-wide-policy", "AdministratorAccess on nodes", {(*IAM, "node_policies"): ["arn:aws:iam::aws:policy/AdministratorAccess"]}, (*IAM, "node_policies", 0), "everything"),
    Row("too-wide-policy", "all of S3 on nodes", {(*IAM, "node_policies"): ["arn:aws:iam::aws:policy/AmazonS3FullAccess"]}, (*IAM, "node_policies", 0), "every bucket"),
    Row("unknown-policy", "a misspelt policy of AWS's", {(*IAM, "node_policies"): ["arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCor"]}, (*IAM, "node_policies", 0), '"AmazonSSMManagedInstanceCore"'),
    Row("unknown-policy", "a policy of AWS's without its folder", {(*IAM, "node_policies"): ["arn:aws:iam::aws:policy/AmazonEC2RoleforSSM"]}, (*IAM, "node_policies", 0), "service-role/AmazonEC2RoleforSSM"),
    Row("unknown-policy", "a policy of a service's own role", {(*IAM, "node_policies"): ["arn:aws:iam::aws:policy/aws-service-role/AmazonEKSServiceRolePolicy"]}, (*IAM, "node_policies", 0), "AmazonEKSServiceRolePolicy is a policy of a service-linked"),
    Row("retired-policy", "a policy that AWS has retired", {(*IAM, "node_policies"): ["arn:aws:iam::aws:policy/service-role/AmazonEC2RoleforSSM"]}, (*IAM, "node_policies", 0), "AmazonSSMManagedInstanceCore"),
    Row("repeated-policy", "a managed policy twice", {(*IAM, "node_policies"): ["arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"] * 2}, (*IAM, "node_policies", 1), "the policy arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore is repeated"),
    Row("repeated-policy", "more managed policies than a role may have", {(*IAM, "node_policies"): [f"arn:aws:iam::123456789012:policy/p{n}" for n in range(11)]}, (*IAM, "node_policies"), "11 managed"),
    Row("too-wide-policy", "AdministratorAccess on the nodes of a pool", {POOL_POLICIES: ["arn:aws:iam::aws:policy/AdministratorAccess"]}, (*POOL_POLICIES, 0), "everything"),
    Row("unknown-policy", "a misspelt policy of a pool", {POOL_POLICIES: ["arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCor"]}, (*POOL_POLICIES, 0), '"AmazonSSMManagedInstanceCore"'),
    Row("iam-partition", "a commercial policy of a pool in China", {POOL_POLICIES: ["arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"]}, (*POOL_POLICIES, 0), "aws-cn", region="cn-north-1"),
    Row("repeated-policy", "a pool's policy that all nodes have", {(*IAM, "node_policies"): ["arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"], POOL_POLICIES: ["arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"]}, (*POOL_POLICIES, 0), "is repeated"),
    Row("repeated-policy", "more managed policies than a pool's role may have", {(*IAM, "node_policies"): [f"arn:aws:iam::123456789012:policy/p{n}" for n in range(6)], POOL_POLICIES: [f"arn:aws:iam::123456789012:policy/q{n}" for n in range(6)]}, POOL_POLICIES, "12 managed"),
    Row("boundary-as-policy", "the boundary as a policy of a pool", {POOL_POLICIES: ["arn:aws:iam::123456789012:policy/edge"], (*IAM, "permissions_boundary"): "arn:aws:iam::123456789012:policy/edge"}, (*POOL_POLICIES, 0), "boundary"),
    Row("trust-policy-size", "more roles of pools than a trust policy can name", {("aws", "pools"): [{**GOOD["aws"]["pools"][0], "name": f"p{n}", "node_policies": ["arn:aws:iam::123456789012:policy/agent"]} for n in range(20)]}, ("aws", "pools", 19, "node_policies"), "2048"),
    Row("boundary-as-policy", "the boundary as a policy", {(*IAM, "node_policies"): ["arn:aws:iam::123456789012:policy/edge"], (*IAM, "permissions_boundary"): "arn:aws:iam::123456789012:policy/edge"}, (*IAM, "node_policies", 0), "boundary"),
    Row("role-path", "a path that AWS reserves", {(*IAM, "path"): "/aws-service-role/x/"}, (*IAM, "path"), "AWS's own"),
    Row("role-path", "a path too long", {(*IAM, "path"): f"/{'x' * 520}/"}, (*IAM, "path"), "512"),
    Row("policy-size", "more statements than a role's policy holds", {STATEMENTS: [{"actions": ["s3:GetObject"], "resources": [f"arn:aws:s3:::bucket-{n}/*"]} for n in range(120)]}, STATEMENTS, "10240"),
    Row("launch-policy-size", "more reservations than the launch role's policy holds", {("aws", "pools", 0, "capacity"): [{"kind": "reservation", "reservation": f"cr-{n:017x}", "zone": "use1-az4"} for n in range(120)]}, ("aws", "pools"), "10240"),
    Row("roles-anywhere-issuer", "a CA whose name cannot be a session tag", {(*IAM, "anywhere"): {"certificate": AMPERSAND}}, (*IAM, "anywhere", "certificate"), 'CN="R&D"'),
    Row("roles-anywhere-certificate", "a file name instead of a CA's certificate", {(*IAM, "anywhere"): {"certificate": "ca.pem"}}, (*IAM, "anywhere", "certificate"), "no PEM certificate"),
    Row("roles-anywhere-certificate", "a damaged certificate", {(*IAM, "anywhere"): {"certificate": CUT}}, (*IAM, "anywhere", "certificate"), "the PEM certificate is damaged: its body"),
    Row("roles-anywhere-authority", "a host's certificate instead of the CA's", {(*IAM, "anywhere"): {"certificate": NO_AUTHORITY}}, (*IAM, "anywhere", "certificate"), "this is not a CA certificate", today=date(2026, 11, 25)),
    Row("roles-anywhere-authority", "a CA certificate that ends in a month", {(*IAM, "anywhere"): {"certificate": AUTHORITY}}, (*IAM, "anywhere", "certificate"), "expires on 2026-12-30", today=date(2026, 11, 25)),
    Row("roles-anywhere-authority", "an expired CA certificate", {(*IAM, "anywhere"): {"certificate": AUTHORITY}}, (*IAM, "anywhere", "certificate"), "expired on 2026-12-30", today=date(2027, 1, 1)),
    Row("site-credentials", "no source of AWS credentials for the site", {("onprem", "aws_credentials"): REMOVED}, ("onprem",), "landbridge credentials init"),
    Row("certificate-times", "a renewal in every run", {(*IAM, "anywhere"): {"certificate": AUTHORITY, "renew_days": 90}}, (*IAM, "anywhere", "renew_days"), "every run"),
    Row("certificate-times", "an alarm before the renewal", {(*IAM, "anywhere"): {"certificate": AUTHORITY, "alarm_days": 60}}, (*IAM, "anywhere", "alarm_days"), "before it is due"),
    Row("roles-anywhere-key", "the CA's private key", {(*IAM, "anywhere"): {"certificate": KEY}}, (*IAM, "anywhere", "certificate"), "private key"),
    Row("ssm-activation-expiry", "an expired activation", {(*IAM, "ssm_activation"): {"registrations": 2, "expires": "2026-11-01T00:00:00Z"}}, (*IAM, "ssm_activation", "expires"), "the activation expired on 2026-11-01", today=date(2026, 11, 20)),
    Row("ssm-activation-expiry", "an activation for a year", {(*IAM, "ssm_activation"): {"registrations": 2, "expires": "2027-11-01T00:00:00Z"}}, (*IAM, "ssm_activation", "expires"), "30 days", today=date(2026, 11, 20)),
    Row("ssm-activation-offset", "an activation's end without an offset", {(*IAM, "ssm_activation"): {"registrations": 2, "expires": "2026-12-01T00:00:00"}}, (*IAM, "ssm_activation", "expires"), "offset"),
]  # fmt: skip
