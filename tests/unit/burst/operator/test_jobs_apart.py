"""Jobs whose nodes are apart, in the answers of `landbridge burst status` and `why`."""

import pytest

from landbridge.burst.model import Attempt, SlurmJob, State
from landbridge.burst.operator.explain import ADVICE, explain_job
from landbridge.burst.operator.status import JobApart, jobs_apart
from tests.unit.burst.situations import NOW, OFFERINGS, site


def apart_state() -> State:
    attempts = {
        f"t-{number}": Attempt(
            *(
                f"t-{number}",
                "g",
                "gpu",
                OFFERINGS[number - 1].key,
                (f"g-{number}",),
                (),
                "",
                False,
                NOW,
                NOW,
                0.0,
                0.0,
            ),
            ended=NOW,
            instances={f"g-{number}": f"i-{number}"},
        )
        for number in (1, 2)
    }
    return State(attempts=attempts)


def test_the_explanation_of_a_running_job_says_that_its_nodes_are_apart() -> None:
    job = SlurmJob(7, "RUNNING", ("g-1", "g-2"), "gpu", "lab")
    answer = explain_job(7, job, apart_state(), site(), (), NOW)
    assert [(point.text, point.code) for point in answer.now if point.about == "apart"] == [
        ("its nodes are in p5/a (1), p5/b (1)", "APART")
    ]
    assert answer.do == (ADVICE["APART"],)


@pytest.mark.parametrize(
    ("nodes", "state", "expected"),
    [
        (("g-1", "g-2"), "RUNNING", [JobApart(7, "p5/a (1), p5/b (1)")]),
        (("g-1", "g-3"), "RUNNING", []),
        (("g-1",), "RUNNING", []),
        ((), "PENDING", []),
    ],
    ids=["two zones", "a node without a launch", "one node", "pending"],
)
def test_the_status_lists_jobs_whose_nodes_are_apart(
    nodes: tuple[str, ...], state: str, expected: list[JobApart]
) -> None:
    assert jobs_apart({7: SlurmJob(7, state, nodes, "gpu", "lab")}, apart_state(), site()) == expected
