"""Calls of a launch: their nodes, tags and tokens, and their equality if repeated."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from landbridge.burst.model.errors import max_tag_value
from landbridge.burst.reconcile.launching.launch_attempts import job_list, split, tags_of
from landbridge.burst.reconcile.launching.tokens import client_token
from landbridge.hostlist import compress, expand
from tests.unit.burst.situations import NOW, decide, ec2, job, only_launch, site, slurm

NAMES = st.sets(st.integers(1, 9999), min_size=1, max_size=300).map(lambda numbers: [f"g-{n}" for n in sorted(numbers)])


@given(NAMES, st.integers(1, 500))
def test_every_node_is_in_one_call_and_its_index_in_the_tag_is_its_name(nodes, most):
    parts = split(nodes, most)
    assert sorted(node for part in parts for node in part) == sorted(nodes)
    for part in parts:
        tag = compress(part)
        assert len(part) <= most and len(tag) <= max_tag_value() and tuple(expand(tag)) == part


def test_a_thousand_consecutive_nodes_are_two_calls():
    assert [len(part) for part in split([f"g-{n}" for n in range(1, 1001)], 500)] == [500, 500]


def test_tags_of_a_launch_have_owner_job_and_lease():
    policy = site(cost_center="4711")
    (attempt,) = only_launch(decide(slurm(job(7, "g-1", "g-2")), ec2(), policy=policy)).attempts
    assert tags_of(attempt, policy) == {
        "Name": "site-gpu-7",
        "landbridge:cluster": "site",
        "landbridge:pool": "gpu",
        "landbridge:job": "7",
        "landbridge:lease-expires": datetime.fromtimestamp(NOW + 71 * 60, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "landbridge:data-class": "internal",
        "landbridge:cost-center": "4711",
        "landbridge:account": "lab",
    }


def test_a_node_without_a_job_has_warm_in_its_name():
    view = slurm(states={"g-1": ("IDLE", "CLOUD", "POWERING_UP")})
    launch = only_launch(decide(view, ec2()))
    assert launch.tags["Name"] == "site-gpu-warm" and "landbridge:job" not in launch.tags


@given(st.lists(st.integers(1, 2**26), max_size=100))
def test_a_long_list_of_jobs_is_cut_between_ids(jobs):
    text = job_list(jobs)
    assert (
        len(text) <= max_tag_value()
        and [int(word) for word in text.split(",") if word] == jobs[: len(text.split(",")) if text else 0]
    )


JOBS = st.lists(st.integers(1, 99), max_size=4)
NODES = st.lists(st.sampled_from(["g-1", "g-2", "g-3"]), max_size=3)


@given(JOBS, st.text(), NODES, st.text(), st.integers(0, 9), st.randoms())
def test_a_token_depends_on_the_launch_and_not_on_the_sequence_of_nodes_and_jobs(
    jobs, occasion, nodes, offering, attempt, random
):
    token = client_token("site", jobs, occasion, nodes, offering, attempt)
    assert len(token) <= 64 and token.isascii()
    random.shuffle(jobs)
    random.shuffle(nodes)
    assert client_token("site", jobs, occasion, nodes, offering, attempt) == token
    assert client_token("site", jobs, occasion, nodes, offering, attempt + 1) != token
    assert client_token("other", jobs, occasion, nodes, offering, attempt) != token


def test_another_start_of_the_same_job_has_another_token():
    def token(**fields):
        (attempt,) = only_launch(decide(slurm(job(7, "g-1", "g-2", **fields)), ec2())).attempts
        return attempt.token

    assert len({token(), token(restarts=1), token(started=NOW - 60)}) == 3
    assert token() == token()


def test_an_empty_journal_leads_to_the_same_call_again():
    calls = [only_launch(decide(slurm(job(7, "g-1", "g-2")), ec2(), now=NOW + later)) for later in (0, 20)]
    (first,), (second,) = (call.attempts for call in calls)
    assert calls[0].tags == calls[1].tags and (first.token, first.lease) == (second.token, second.lease)
