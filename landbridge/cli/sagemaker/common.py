"""Shared code of the commands: options, the AWS client, and failures."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import Format, print_findings
from landbridge.findings import Finding

if TYPE_CHECKING:
    from landbridge.aws_api.client import AwsClient
    from landbridge.environment import Environment

ConfigFile = Annotated[
    Path | None, typer.Option("--config", help="Settings of the controller; default: /etc/landbridge/burst.json.")
]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]
JobName = Annotated[str, typer.Argument(metavar="NAME", help="Training job.")]


def connect(environment: "Environment") -> "AwsClient":
    """Return a client of the environment's AWS without answers of earlier calls."""
    from landbridge.aws_api.client import AwsClient
    from landbridge.plan.fips import fips_services

    endpoint = environment.aws.endpoints.operator
    return AwsClient(environment.region, endpoint, fips_services=fips_services(environment))


@contextmanager
def refusals(quota: str = "") -> Iterator[None]:
    """Print a refusal of the policy, of the budget or of AWS as a finding, and exit: 1 for a refusal, 2 without an answer."""
    from landbridge.aws_api.refusal import AwsRefusal, RefusalKind
    from landbridge.burst.reconcile.training_jobs import TrainingRefused

    try:
        yield
    except TrainingRefused as refused:
        print_findings([Finding(refused.rule, str(refused))])
        raise typer.Exit(1) from None
    except AwsRefusal as refused:
        fix = None
        if refused.code == "ResourceLimitExceeded" and quota:
            fix = f'raise the quota "{quota}" of Amazon SageMaker (Service Quotas)'
        answered = refused.kind in (RefusalKind.ANSWER, RefusalKind.DENIED)
        print_findings([Finding("training-aws", str(refused), fix=fix)])
        raise typer.Exit(1 if answered else 2) from None
