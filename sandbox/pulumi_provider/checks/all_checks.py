"""All checks of a resource's inputs before it is created."""

from collections.abc import Iterator

from sandbox.pulumi_provider.checks import sdk_args
from sandbox.pulumi_provider.checks.cloudformation_schemas import schema_problems
from sandbox.pulumi_provider.checks.enumerations import word_problems
from sandbox.pulumi_provider.checks.launch_policies import refused_problems
from sandbox.pulumi_provider.checks.sdk_args import Problem
from sandbox.pulumi_provider.checks.value_ranges import range_problems
from sandbox.pulumi_provider.serialization import Bag


def all_problems(token: str, inputs: Bag, *, real: bool = True) -> Iterator[Problem]:
    """Yield the problems found by the SDK's types, by AWS's models and schemas, and by known refusals; each once.

    `real`: ids are those of an AWS; invented ids have other lengths and patterns, which are then not checked.
    """
    problems = [*sdk_args.problems(token, inputs), *word_problems(token, inputs), *refused_problems(token, inputs)]
    if real:
        problems += [*range_problems(token, inputs), *schema_problems(token, inputs)]
    yield from dict.fromkeys(problems)
