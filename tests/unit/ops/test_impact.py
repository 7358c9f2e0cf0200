"""Every prepared change has its effect, and data is lost only if the operator has named it."""

import io

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pulumi.automation import StepEventMetadata
from rich.console import Console

from landbridge.aws_resources import BY_TOKEN
from landbridge.catalog.aws.impact import Effect, impact_facts
from landbridge.cli.display.impact import print_report
from landbridge.cli.stack.impact import refused
from landbridge.ops.impact import ImpactReport, impacts, report
from landbridge.plan.resource_change import ResourceChange
from landbridge.realise.steps import change_of
from sandbox.pulumi_provider.aws import RESOURCE_TYPES
from sandbox.pulumi_provider.checks import sdk_args
from tests.unit.ops.rows_impact import LOST, REFUSED, ROWS
from tests.unit.ops.steps_impact import Row, Step


def changes(*steps: Step) -> list[ResourceChange]:
    return [change_of(StepEventMetadata.from_json(event)) for event in steps]


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_a_change_has_its_effect(row: Row) -> None:
    (impact,) = impacts(changes(*row.steps))
    assert impact.effect is row.effect, impact
    assert row.text in f"{impact.why} {impact.first}", impact


def test_changes_that_lost_users_data_are_covered() -> None:
    assert len(ROWS) >= 20 and len(LOST) == 5
    assert all(row.effect is Effect.DATA_LOSS and row.known for row in LOST)


def test_every_effect_of_the_file_is_met_by_a_row() -> None:
    assert {row.effect for row in ROWS} == set(Effect)


def test_data_is_lost_only_by_name() -> None:
    every = changes(*(step for row in LOST[:2] for step in row.steps))
    assert len(report(every).unnamed) == 2
    partly = report(every, ["hybrid-shared"])
    assert [impact.name for impact in partly.unnamed] == ["hybrid-scratch"] and partly.refused
    both = report(every, ["aws:efs/fileSystem:FileSystem::hybrid-shared", every[0].urn])
    assert not both.refused and both.unknown == () and both.worst is Effect.DATA_LOSS


def test_a_change_that_aws_refuses_ends_with_its_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    result = report(changes(*(step for row in REFUSED[:2] for step in row.steps)))
    assert result.refused and refused(result) and not result.unnamed
    line = capsys.readouterr().err.splitlines()[0]
    assert line.startswith(
        "error: aws:rds/instance:Instance::hybrid-accounting: DB instance: allocatedStorage changes; AWS: "
    )
    assert refused(report(changes(*ROWS[-1].steps))) is False


def test_an_unknown_or_ambiguous_name_names_nothing() -> None:
    both = changes(
        *next(row for row in ROWS if row.name == "a bucket with another name").steps,
        *next(row for row in ROWS if "its key is deleted" in row.name).steps,
    )
    assert {change.name for change in both} == {"h-internal"}
    result = report(both, ["h-internal", "nothing"])
    assert result.unknown == ("h-internal", "nothing") and len(result.unnamed) == 2


def test_an_unchanged_resource_has_no_impact() -> None:
    same = ResourceChange(urn="urn:pulumi:s::p::aws:ec2/vpc:Vpc::v", operation="same")
    assert impacts([same]) == () and report([same]).worst is Effect.NONE


def test_facts_name_types_and_properties_that_exist() -> None:
    facts = impact_facts()
    for token in (*facts.types, *facts.settings):
        cls = sdk_args.args_class(token)
        assert cls is not None, token
        known = facts.types.get(token)
        named = {*known.properties, *(case.property or case.has for case in known.cases)} if known else set()
        assert {name for name in named if name} <= set(sdk_args.fields(cls)), token


def test_every_type_of_the_stand_in_has_an_impact() -> None:
    assert [token for token in RESOURCE_TYPES if token not in BY_TOKEN and impact_facts().of_type(token) is None] == []


def test_a_type_without_a_row_has_the_default_of_its_entry() -> None:
    token = "aws:ec2/vpc:Vpc"
    facts = impact_facts()
    without_row = facts.model_copy(update={"types": {key: row for key, row in facts.types.items() if key != token}})
    change = ResourceChange(urn=f"urn:pulumi:s::p::{token}::v", operation="delete")
    assert impacts([change], without_row)[0].effect in (Effect.REPLACE, Effect.STOP_POOL)
    unknown = ResourceChange(urn="urn:pulumi:s::p::aws:gamelift/fleet:Fleet::v", operation="delete")
    assert impacts([unknown], without_row)[0].effect is Effect.DATA_LOSS


@given(
    st.sampled_from([row for row in ROWS if row.effect is not Effect.DATA_LOSS]),
    st.sampled_from([row for row in ROWS if row.effect is Effect.DATA_LOSS]),
)
def test_nothing_hides_a_loss(harmless: Row, lost: Row) -> None:
    assume(harmless.steps[0]["urn"] != lost.steps[0]["urn"])  # a preview has one change of each resource
    result = report(changes(*harmless.steps, *lost.steps))
    assert result.worst is Effect.DATA_LOSS and result.refused and result.impacts[0].effect is Effect.DATA_LOSS


def test_the_worst_comes_first_with_its_first_action() -> None:
    out = io.StringIO()
    every = changes(*(step for row in ROWS for step in row.steps))
    print_report(report(every), Console(file=out, width=300))
    text = out.getvalue()
    assert text.startswith("DATA LOSS:") and "export what is not in the bucket" in text
    out.truncate(0)
    print_report(ImpactReport(()), Console(file=out))
    assert "nothing changes" in out.getvalue()
