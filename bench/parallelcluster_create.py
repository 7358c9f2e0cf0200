"""Conversion of a cluster's YAML to its CloudFormation template, in ParallelCluster's own Python, up to CreateStack.

    python parallelcluster_create.py CONFIG.yaml

Its validators are off, so that this is its minimum of work; an environment variable has the endpoint of S3 and EC2.
"""

import sys
from pathlib import Path

from pcluster.aws.aws_api import AWSApi
from pcluster.config.common import AllValidatorsSuppressor
from pcluster.models.cluster import Cluster


class _Reached(Exception):
    pass


def main() -> int:
    """Return 0 when CreateStack was reached, with the template in the bucket."""
    reached = []

    def create_stack(**_: object) -> None:
        reached.append(True)
        raise _Reached

    api = AWSApi.instance()
    api.cfn.create_stack_from_url = create_stack
    # The bucket policy is not part of the template, and it makes emulations of S3 refuse plain HTTP.
    api.s3.put_bucket_policy = lambda **_: None
    try:
        Cluster("bench", Path(sys.argv[1]).read_text()).create(validator_suppressors={AllValidatorsSuppressor()})
    except Exception as error:  # noqa: BLE001  (it wraps the errors of create_stack in its own errors)
        if not reached:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
