"""Organisations get the expected architecture, with its reasons, and an environment file that `landbridge check` accepts."""

from pathlib import Path

import pytest

from landbridge import yaml_text
from landbridge.catalog import regimes
from landbridge.catalog.assessment import assessment_facts
from landbridge.economics.assessment.assess import assess, report
from landbridge.economics.assessment.starting_file import origin_of, starting_file
from landbridge.environment.file.load import load_text
from landbridge.findings import Severity
from landbridge.rules import check
from tests.unit.assessment.organisations import ORGANISATIONS, Organisation, answers
from tests.unit.core.samples import ROOT

EACH = pytest.mark.parametrize("organisation", ORGANISATIONS.values(), ids=list(ORGANISATIONS))


@EACH
def test_the_architecture_and_its_reasons(organisation: Organisation) -> None:
    result = assess(answers(organisation.answers))
    text = report(result)
    assert result.recommendation.kind is organisation.kind, text
    assert set(organisation.rules) <= {sentence.rule for sentence in result.sections["reasons"]}, text
    assert [word for word in organisation.words if word not in text] == [], text


@EACH
def test_the_written_file_has_no_errors_and_the_sizes_of_the_assessment(organisation: Organisation) -> None:
    given = answers(organisation.answers)
    result = assess(given).recommendation
    origin = origin_of(given, result)
    assert origin == organisation.origin
    text = starting_file(given, result, (ROOT / "stacks" / f"Pulumi.{origin}.yaml").read_text())
    loaded = load_text(text, Path("stacks/Pulumi.acme.yaml"))
    errors = [str(finding) for finding in check(loaded) if finding.severity is Severity.ERROR]
    environment = loaded.environment
    assert errors == [] and environment is not None, "\n".join([*errors, text])
    assert environment.region == result.residency.region
    assert len(environment.host_addresses()) - len(environment.onprem.addresses if environment.onprem else ()) == (
        result.sizing.nodes
    )
    rentable = sum(pool.max_nodes for pool in environment.aws.pools) * result.rates.instance_gpus
    assert rentable >= result.sizing.cloud_peak_gpus or not environment.aws.pools
    assert set(environment.data_classes) == {data_class.name for data_class in given.classes}
    for name, data_class in environment.data_classes.items():
        assert set(data_class.sites) <= set(result.residency.sites[name])
        regime = regimes().get(data_class.regime or "")
        assert "aws" not in data_class.sites or regime is None or regime.allows_region(environment.region)


@EACH
def test_every_sentence_has_a_rule_and_a_basis(organisation: Organisation) -> None:
    result = assess(answers(organisation.answers))
    data = result.to_dict()
    sentences = [sentence for section in data["sections"].values() for sentence in section]
    for phase in data["phases"]:
        sentences += [*phase["sentences"], *([phase["trigger"]] if phase["trigger"] else [])]
    assert len(sentences) == len(list(result.sentences())) > 5
    text = report(result)
    for sentence in sentences:
        rule = assessment_facts().rules[sentence["rule"]]
        assert sentence["rule_text"] == rule.text and sentence["basis"] in ("source", "derived", "judgement")
        assert sentence["reason"] or sentence["sources"], sentence
        assert f"{sentence['text']} [{sentence['rule']}" in text
        assert f"\n  {sentence['rule']}: {rule.text}" in text
        if "USD" in sentence["text"] and sentence["rule"] not in ("budget", "capital-limit"):
            dated = [source for source in sentence["sources"] if source["date"]]
            assert dated, sentence


def test_the_comments_of_the_origin_are_kept_where_they_still_hold() -> None:
    given = answers(ORGANISATIONS["bank under PCI"].answers)
    result = assess(given).recommendation
    text = starting_file(given, result, (ROOT / "stacks" / "Pulumi.hybrid.yaml").read_text())
    assert "landbridge credentials init` replaces this" in text and "Built once for Ubuntu and Debian" in text
    for stale in ("Eight DGX H100", "clinic", "Capacity Block", "Fork it with"):
        assert stale not in text
    assert yaml_text.load(text)["config"]["landbridge:environment"]["scheduler"]["accounts"]["cards"]
