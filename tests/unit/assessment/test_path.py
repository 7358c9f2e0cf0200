"""Path: phases, triggers, people, sensitivity and questions follow from the answers."""

import math

import pytest

from landbridge.catalog.assessment import assessment_facts
from landbridge.economics.assessment.answers import Answers
from landbridge.economics.assessment.architecture import recommend
from landbridge.economics.assessment.assess import assess, report
from landbridge.economics.assessment.questionnaire import parsed, questionnaire
from landbridge.economics.assessment.staffing import staff_band
from tests.unit.assessment.organisations import ORGANISATIONS, answers

TRAINING = {
    "workloads": {"baseline": 60, "burst": 40},
    "utilisation": {"gpu": "h100", "mean_gpus": 40, "peak_gpus": 96},
    "staff": {"people": 2, "gpu_operations": "experienced"},
}


def changed(**sections: object) -> Answers:
    return answers({**TRAINING, **sections})


def rules_of(given_answers: Answers, phase: int) -> set[str]:
    path = assess(given_answers).phases
    return {sentence.rule for sentence in path[phase].sentences}


@pytest.mark.parametrize(
    ("sections", "rule", "present"),
    [
        ({"constraints": {"first_gpu_weeks": 4}}, "delivery", True),
        ({"constraints": {"first_gpu_weeks": 30}}, "delivery", False),
        ({"constraints": {"first_gpu_weeks": 4, "delivery_weeks": 2}}, "delivery", False),
        ({"staff": {"people": 2, "gpu_operations": "none"}}, "experience", True),
        ({"staff": {"people": 2, "gpu_operations": "some"}}, "experience", False),
    ],
)
def test_the_first_phase_has_its_reasons(sections: dict[str, object], rule: str, present: bool) -> None:
    assert (rule in rules_of(changed(**sections), 0)) == present


def test_a_deadline_that_only_the_cloud_could_meet_is_told_if_no_data_may_be_there() -> None:
    secret = {"classes": [{"name": "secret", "regime": "classified"}]}
    late = changed(workloads={"sensitive": 100}, data=secret, constraints={"first_gpu_weeks": 4})
    assert "deadline" in rules_of(late, 0)
    relaxed = changed(workloads={"sensitive": 100}, data=secret, constraints={"first_gpu_weeks": 40})
    assert "deadline" not in rules_of(relaxed, 0)


def test_growth_gives_the_year_of_the_trigger() -> None:
    path = assess(changed(growth={"percent_a_year": 30})).phases
    (growth,) = (sentence for sentence in path[-1].sentences if sentence.rule == "growth")
    assert path[-1].trigger is not None
    factor = float(path[-1].trigger.figures["mean_gpus"] or 0) / 40
    assert growth.figures["years"] == pytest.approx(math.log(factor) / math.log(1.3))
    assert all(sentence.rule != "growth" for phase in assess(changed()).phases for sentence in phase.sentences)


@pytest.mark.parametrize(
    ("nodes", "low", "high"), [(0, 0, 0), (1, 1, 1), (4, 1, 1), (5, 1, 1.25), (20, 1.6, 5), (217, 17.36, 54.25)]
)
def test_people_for_nodes(nodes: int, low: float, high: float) -> None:
    assert staff_band(nodes) == (pytest.approx(low), pytest.approx(high))


@pytest.mark.parametrize(
    ("people", "words"), [(0, "engage at least 1.0 more"), (1.1, "within the range"), (9, "enough")]
)
def test_people_are_compared(people: float, words: str) -> None:
    assert words in report(assess(changed(staff={"people": people, "gpu_operations": "some"})))


@pytest.mark.parametrize(("limit", "words"), [(90_000, "above the budget of 90,000 USD"), (9e9, "within the budget")])
def test_the_budget_is_compared(limit: float, words: str) -> None:
    assert words in report(assess(changed(constraints={"budget_usd_month": limit})))


@pytest.mark.parametrize("name", ORGANISATIONS)
def test_a_change_that_is_reported_gives_the_other_architecture(name: str) -> None:
    given_answers = answers(ORGANISATIONS[name].answers)
    result = assess(given_answers)
    for sentence in result.sections["changes"]:
        kind, value = sentence.figures.get("architecture"), sentence.figures.get("value")
        if sentence.rule == "flip-input":
            assert recommend(given_answers, {str(sentence.figures["input"]): float(value or 0)}).kind == kind
        if sentence.rule not in ("flip", "flip-input"):
            continue
        assert kind != result.recommendation.kind
        use = given_answers.utilisation
        if sentence.figures.get("answer") == "cloud_usd_hour":
            assert recommend(given_answers, cloud_factor=float(value or 0)).kind == kind
        elif sentence.figures.get("answer") == "hours_a_week":
            more = use.model_copy(update={"hours_a_week": value})
            assert recommend(given_answers.model_copy(update={"utilisation": more})).kind == kind
        elif sentence.figures.get("answer") == "mean_gpus" and use.trace is None:
            factor = float(value or 0)
            update = {"mean_gpus": use.mean_gpus * factor, "peak_gpus": use.peak_gpus * factor}
            more = use.model_copy(update=update)
            assert recommend(given_answers.model_copy(update={"utilisation": more})).kind == kind


def test_the_maintenance_of_the_published_model_is_a_named_sensitivity() -> None:
    text = report(assess(answers(ORGANISATIONS["group that trains at 80 percent"].answers)))
    assert "maintenance a year as a share of the price: 7 at 0.038 and 6 at 0.12" in text


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("workloads.baseline", "60 %", 60),
        ("workloads.baseline", "60.5", 60.5),
        ("utilisation.mean_gpus", "1,200", 1200),
        ("constraints.sites", "onprem, aws", ["onprem", "aws"]),
        ("constraints.region", "", None),
        ("growth.percent_a_year", "-10", -10),
    ],
)
def test_an_answer_of_a_prompt(key: str, text: str, value: object) -> None:
    (question,) = (question for question in assessment_facts().questions if question.key == key)
    assert parsed(question, text) == value


@pytest.mark.parametrize(
    ("key", "text", "reason"),
    [
        ("workloads.baseline", "120", "more than 100 percent"),
        ("workloads.baseline", "many", "is not a number"),
        ("workloads.baseline", "nan", "not in the range"),
        ("utilisation.mean_gpus", "", "an answer is required"),
        ("utilisation.mean_gpus", "-3", "not in the range"),
        ("utilisation.gpu", "h900", "not one of h100"),
        ("constraints.sites", "moon", "answer with onprem and aws"),
    ],
)
def test_an_answer_that_is_refused(key: str, text: str, reason: str) -> None:
    (question,) = (question for question in assessment_facts().questions if question.key == key)
    with pytest.raises(ValueError, match=reason):
        parsed(question, text)


def test_the_questions_give_answers_without_findings() -> None:
    replies = {"workloads.baseline": "100", "utilisation.mean_gpus": "8", "utilisation.peak_gpus": "8"}
    names = iter(["internal", "", ""])

    def ask(question: object, default: str) -> str:
        key = str(getattr(question, "key", ""))
        return next(names) if key in ("name", "platform") else replies.get(key, default)

    data = questionnaire(ask, lambda reason: pytest.fail(reason))
    assert answers(data).classes[0].name == "internal" and answers(data).workloads.baseline == 100
