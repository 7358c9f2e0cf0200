#!/usr/bin/python
"""Ansible module for the buckets of an S3 server, with versioning and a policy each."""

DOCUMENTATION = r"""
module: object_store_buckets
short_description: Manage buckets of an S3 server
description:
  - Creates missing buckets, enables versioning and sets the policy. Never deletes a bucket.
  - Needs boto3 on the host.
options:
  url: {type: str, required: true, description: The server.}
  ca_path: {type: path, description: File of the certificates of the CAs; the system's without it.}
  region: {type: str, required: true, description: Region with which requests are signed.}
  access_key: {type: str, required: true, description: Access key of an account that may create buckets.}
  secret_key: {type: str, required: true, description: Its secret key.}
  buckets: {type: list, elements: dict, required: true, description: Buckets with name and policy.}
author: [landbridge]
"""

EXAMPLES = r"""
- object_store_buckets:
    url: https://localhost:7070
    region: us-east-1
    access_key: landbridge
    secret_key: "{{ secret_key }}"
    buckets:
      - name: acme-internal
        policy: {Version: "2012-10-17", Statement: []}
"""

RETURN = r"""
created: {type: list, returned: always, description: Buckets that were missing.}
updated: {type: list, returned: always, description: Buckets whose versioning or policy was set.}
"""

import json

from ansible.module_utils.basic import AnsibleModule

try:
    import boto3
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError
except ImportError:
    boto3 = None


def code(error):
    """Return the code of S3's answer."""
    return error.response["Error"]["Code"]


def exists(client, name):
    """Return whether a bucket exists."""
    try:
        client.head_bucket(Bucket=name)
    except ClientError as error:
        if code(error) in ("404", "NoSuchBucket"):
            return False
        raise
    return True


def policy_of(client, name):
    """Return the policy of a bucket, or None."""
    try:
        return json.loads(client.get_bucket_policy(Bucket=name)["Policy"])
    except ClientError as error:
        if code(error) == "NoSuchBucketPolicy":
            return None
        raise


def ensure(client, bucket, check_mode):
    """Apply the settings of a bucket; return whether it was created, and whether a setting was changed."""
    name = bucket["name"]
    is_new = not exists(client, name)
    if is_new:
        if check_mode:
            return True, False
        client.create_bucket(Bucket=name)
    versioning = client.get_bucket_versioning(Bucket=name).get("Status") != "Enabled"
    policy = policy_of(client, name) != bucket["policy"]
    if versioning and not check_mode:
        client.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    if policy and not check_mode:
        client.put_bucket_policy(Bucket=name, Policy=json.dumps(bucket["policy"], sort_keys=True))
    return is_new, not is_new and (versioning or policy)


def main():
    bucket_spec = {"name": {"type": "str", "required": True}, "policy": {"type": "dict", "required": True}}
    module = AnsibleModule(
        argument_spec={
            "url": {"type": "str", "required": True},
            "ca_path": {"type": "path"},
            "region": {"type": "str", "required": True},
            "access_key": {"type": "str", "required": True, "no_log": False},
            "secret_key": {"type": "str", "required": True, "no_log": True},
            "buckets": {"type": "list", "elements": "dict", "required": True, "options": bucket_spec},
        },
        supports_check_mode=True,
    )
    parameters = module.params
    names = [bucket["name"] for bucket in parameters["buckets"]]
    if boto3 is None:
        if module.check_mode:
            # The package is installed by an earlier task of the same run.
            module.exit_json(changed=True, created=names, updated=[])
        module.fail_json(msg="boto3 is not installed on this host")
    client = boto3.client(
        "s3",
        endpoint_url=parameters["url"],
        region_name=parameters["region"],
        aws_access_key_id=parameters["access_key"],
        aws_secret_access_key=parameters["secret_key"],
        verify=parameters["ca_path"] or True,
        config=Config(connect_timeout=5, read_timeout=30, s3={"addressing_style": "path"}),
    )
    created, updated = [], []
    for bucket in parameters["buckets"]:
        try:
            is_new, is_changed = ensure(client, bucket, module.check_mode)
        except ClientError as error:
            module.fail_json(msg="bucket %s: %s" % (bucket["name"], error))
        except BotoCoreError as error:
            if not module.check_mode:
                module.fail_json(msg="bucket %s: %s" % (bucket["name"], error))
            # The server does not run yet.
            is_new, is_changed = True, False
        created += [bucket["name"]] if is_new else []
        updated += [bucket["name"]] if is_changed else []
    module.exit_json(changed=bool(created or updated), created=created, updated=updated)


if __name__ == "__main__":
    main()
