"""Runs in ParallelCluster's own Python: a cluster's YAML to its CloudFormation template, up to CreateStack.

    python parallelcluster_create.py CONFIG.yaml

Its validators are off, so that this is the least it can do; S3 and EC2 are at the endpoint in the environment.
"""

import sys
from pathlib import Path

from pcluster.aws.aws_api import AWSApi
from pcluster.config.common import AllValidatorsSuppressor
from pcluster.models.cluster import Cluster


class _Reached(Exception):
    pass


def main() -> int:
    """0 when CreateStack was reached, with the template in the bucket."""
    reached = []

    def create_stack(**_: object) -> None:
        reached.append(True)
        raise _Reached

    api = AWSApi.instance()
    api.cfn.create_stack_from_url = create_stack
    # The bucket's own policy is no part of the template, and emulations of S3 refuse plain HTTP by it.
    api.s3.put_bucket_policy = lambda **_: None
    try:
        Cluster("bench", Path(sys.argv[1]).read_text()).create(validator_suppressors={AllValidatorsSuppressor()})
    except Exception as error:  # noqa: BLE001  (it wraps what create_stack raises in errors of its own)
        if not reached:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
