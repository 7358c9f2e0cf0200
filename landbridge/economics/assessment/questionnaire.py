"""Questionnaire: the questions of assessment.yaml, in order, and the answers as the data of an answers file."""

from collections.abc import Callable, Mapping
from typing import Any

from landbridge.catalog import platforms, regimes
from landbridge.catalog.assessment import Question, assessment_facts
from landbridge.environment.base import SITES

#: Function that shows a question with its default and returns the text of the answer.
Ask = Callable[[Question, str], str]
#: Function that shows the reason for which an answer is refused.
Refuse = Callable[[str], None]


def choices(question: Question) -> tuple[str, ...]:
    """Return the accepted answers of a question; empty if any answer is."""
    known: Mapping[str, tuple[str, ...]] = {
        "gpus": tuple(assessment_facts().gpus),
        "regimes": tuple(regimes()),
        "platforms": tuple(platforms()),
    }
    return known[question.choices] if isinstance(question.choices, str) else question.choices


def parsed(question: Question, text: str) -> Any:
    """Return the value of an answer; None for an empty one. Raises ValueError with the reason."""
    text = text.strip()
    if not text:
        if question.default is None:
            raise ValueError("an answer is required")
        return None
    if question.kind in ("number", "percent"):
        try:
            number = float(text.replace(",", "").removesuffix("%"))
        except ValueError:
            raise ValueError(f"{text} is not a number") from None
        if not 0 <= number < 1e12 and question.key != "growth.percent_a_year":
            raise ValueError(f"{text} is not in the range from 0")
        if question.kind == "percent" and number > 100:
            raise ValueError(f"{text} percent is more than 100 percent")
        return int(number) if number.is_integer() else number
    if question.kind == "sites":
        words = text.replace(",", " ").split()
        if not set(words) <= set(SITES):
            raise ValueError(f"answer with {' and '.join(SITES)}, or one of them")
        return words
    known = choices(question)
    if known and text not in known:
        raise ValueError(f"{text} is not one of {', '.join(known)}")
    return text


def questionnaire(ask: Ask, refuse: Refuse) -> dict[str, Any]:
    """Return all answers as nested data. A refused answer is asked again."""
    data: dict[str, Any] = {}
    for question in assessment_facts().questions:
        value: Any = _items(question, ask, refuse) if question.kind == "list" else _answer(question, ask, refuse)
        if value is None or value == []:
            continue
        *sections, key = question.key.split(".")
        place = data
        for section in sections:
            place = place.setdefault(section, {})
        place[key] = value
    return data


def _items(question: Question, ask: Ask, refuse: Refuse) -> list[dict[str, Any]]:
    """Return the items of a list: until the first field is left empty."""
    items: list[dict[str, Any]] = []
    while (first := _answer(question.fields[0], ask, refuse)) is not None:
        others = {field.key: _answer(field, ask, refuse) for field in question.fields[1:]}
        item = {question.fields[0].key: first, **others}
        items.append({key: value for key, value in item.items() if value is not None})
    return items


def _answer(question: Question, ask: Ask, refuse: Refuse) -> Any:
    default = (
        ""
        if question.default is None
        else f"{question.default:g}"
        if isinstance(question.default, float | int)
        else question.default
    )
    while True:
        try:
            return parsed(question, ask(question, default))
        except ValueError as error:
            refuse(str(error))
