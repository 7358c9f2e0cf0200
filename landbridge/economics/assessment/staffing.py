"""Staffing: full-time equivalents for the owned nodes, from dated sources, compared with the people of the answers."""

from landbridge.catalog import onprem_costs
from landbridge.catalog.assessment import assessment_facts
from landbridge.economics.assessment.answers import Answers
from landbridge.economics.assessment.architecture import Recommendation
from landbridge.economics.assessment.rates import PriceBasis
from landbridge.economics.assessment.sentences import Sentence, count, say


def staff_band(nodes: int) -> tuple[float, float]:
    """Return the lowest and the highest number of full-time equivalents for a number of owned nodes; 0 without nodes."""
    least, row = assessment_facts().threshold("staff-least"), onprem_costs().inputs["staff_per_node"]
    ends = (row.low or 0.0, row.high or 0.0)
    return (max(least, ends[0] * nodes), max(least, ends[1] * nodes)) if nodes else (0.0, 0.0)


def staff_sentences(answers: Answers, result: Recommendation) -> tuple[Sentence, ...]:
    """Return the people that the recommendation needs, and the consequences of the staff's number and experience."""
    facts, nodes, staff = assessment_facts(), result.sizing.nodes, answers.staff
    costs = onprem_costs()
    source = costs.sources[costs.inputs["staff_per_node"].source]
    other = (PriceBasis(source.title, source.date, source.confidence),)
    low, high = staff_band(nodes)
    if not nodes:
        least = facts.threshold("staff-least")
        text = f"Nothing is owned, so no operators of machines are needed; the first owned node needs {least:g}."
        return (say("staff-least", text, people=least),)
    people = f"{low:.1f} to {high:.1f}" if high - low >= 0.05 else f"{low:.1f}"
    text = f"{count(nodes, 'owned node')} with {count(result.sizing.gpus, 'GPU')} need {people} full-time equivalents."
    sentences = [say("staff", text, other, low=low, high=high, nodes=nodes)]
    if staff.people < low:
        text = f"There are {staff.people:g}: engage at least {low - staff.people:.1f} more before machines arrive."
        sentences.append(say("staff-people", text, other, people=staff.people, missing=low - staff.people))
    elif staff.people < high:
        text = f"There are {staff.people:g}, within the range: enough for standard work, few for holidays and faults."
        sentences.append(say("staff-people", text, other, people=staff.people))
    else:
        sentences.append(
            say("staff-people", f"There are {staff.people:g}, which is enough.", other, people=staff.people)
        )
    return tuple(sentences)
