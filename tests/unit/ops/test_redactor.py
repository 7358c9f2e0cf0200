"""Removal of secrets and of restricted jobs' words: no value remains, in any of its usual encodings."""

import base64
import json
import string
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.catalog.site_secrets import site_secrets
from landbridge.ops.secrets.store import new_value
from landbridge.ops.support.jobs import SEPARATOR, words_of
from landbridge.ops.support.redact import MARK, Redactor, parts_of

VALUES = st.text(string.ascii_letters + string.digits + "+/=-_.!%$#&\\\"'", min_size=8, max_size=80)
AROUND = st.text(string.printable, max_size=200)
WORDS = st.text(string.ascii_letters + string.digits + "-_/. ", min_size=1, max_size=30)


@given(st.lists(VALUES, min_size=1, max_size=4), st.lists(AROUND, min_size=5, max_size=5))
def test_no_value_remains_in_any_encoding(values: list[str], around: list[str]) -> None:
    redactor = Redactor(frozenset(part for value in values for part in parts_of(value)))
    for value in (value.strip() for value in values):
        forms = [value, json.dumps(value), quote(value, safe=""), base64.b64encode(value.encode()).decode()]
        text = "".join(before + form for before, form in zip(around, forms, strict=False)) + around[-1]
        cleaned, removals = redactor.clean(text)
        assert removals
        if len(value) >= 8:
            assert value not in cleaned and quote(value, safe="") not in cleaned and json.dumps(value) not in cleaned


@pytest.mark.parametrize("name", sorted(site_secrets().generated))
def test_generated_secrets_are_removed_with_each_line_of_theirs(name: str) -> None:
    value = new_value(site_secrets().generated[name])
    cleaned, _ = Redactor(parts_of(value)).clean(f"before {value} after\n" + value.replace("\n", "\\n"))
    private = value.split("-----BEGIN CERTIFICATE-----")[0]
    assert not any(line in cleaned for line in private.splitlines() if len(line) >= 16 and not line.startswith("-----"))
    assert cleaned.startswith("before ") and " after" in cleaned


def test_values_inside_a_secret_file_are_secrets_and_its_short_settings_are_not() -> None:
    value = "[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY\nregion = us-east-1\n"
    redactor = Redactor(parts_of(value) | parts_of('{"keys": [{"kid": "a", "k": "c2VjcmV0LW9mLXNsdXJt"}]}'))
    cleaned, _ = redactor.clean("region us-east-1 wJalrXUtnFEMI/K7MDENG/bPxRfiCY c2VjcmV0LW9mLXNsdXJt")
    assert cleaned == f"region us-east-1 {MARK} {MARK}"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("StoragePass=hunter2 StorageUser=slurm", "hunter2"),
        ('  secret = "pre shared"', "pre shared"),
        ("postgresql://mlflow:s3cr3t@db01/mlflow", "s3cr3t"),
        ("Authorization: Bearer abcdef123456", "abcdef123456"),
        ("key AKIAIOSFODNN7EXAMPLE was used", "AKIAIOSFODNN7EXAMPLE"),
        ("token eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE3OTUyOTUwOTZ9.c2lnbmF0dXJl", "c2lnbmF0dXJl"),
        ("-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIA\n-----END EC PRIVATE KEY-----", "MHcCAQEEIA"),
        ("-----BEGIN PRIVATE KEY-----\nMHcCAQEEIA cut off", "MHcCAQEEIA"),
        ("munge: MUNGE:AwQFAAC3v1Yh0a9k2s3d4f5g6h7j:", "AwQFAAC3v1Yh0a9k2s3d4f5g6h7j"),
        ('{"api_key": "abc", "x": 1}', '"abc"'),
        ("mail to kim@example.org", "kim@example.org"),
    ],
)
def test_text_in_the_form_of_a_secret_is_removed(text: str, secret: str) -> None:
    cleaned, removals = Redactor().clean(text)
    assert secret not in cleaned and removals == 1 and MARK in cleaned


@pytest.mark.parametrize(
    "text", ["AuthType=auth/slurm", "SlurmctldHost=ctl01(10.20.0.11)", "tunnel aws1 is up", "keys: 3 rows"]
)
def test_other_text_is_not_changed(text: str) -> None:
    assert Redactor(frozenset({"abcdefgh"})).clean(text) == (text, 0)


@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=5), AROUND)
def test_no_name_comment_or_command_of_a_restricted_job_remains(jobs: list[tuple[str, str, str]], around: str) -> None:
    text = "\n".join(SEPARATOR.join(job) for job in jobs)
    words = words_of(text)
    log = around + "".join(f" JobId=7 Name={name} Comment={comment} cmd={command}\n" for name, comment, command in jobs)
    cleaned, _ = Redactor(words=words).clean(log)
    outside = cleaned.replace(MARK, "\n")
    for word in words:
        assert len(word) < 4 or word not in outside
    for job in jobs:
        assert " Name={} Comment={} cmd={}\n".format(*job) not in cleaned or not words & {part.strip() for part in job}


def test_words_of_jobs_stay_in_parts_of_the_plan() -> None:
    redactor = Redactor(words=frozenset({"gpu", "patients"}))
    assert redactor.clean("PartitionName=gpu patients", jobs=False) == ("PartitionName=gpu patients", 0)
    assert redactor.clean("PartitionName=gpu patients_2026 gpu0")[0] == f"PartitionName={MARK} {MARK}_2026 gpu0"


@given(st.lists(st.text("ab", min_size=1, max_size=6), min_size=1, max_size=5), st.text("abc", max_size=60))
def test_no_value_remains_among_values_that_contain_or_overlap_each_other(values: list[str], text: str) -> None:
    cleaned, removals = Redactor(frozenset(values)).clean(text)
    assert not any(value in cleaned.replace(MARK, "\n") for value in values)
    assert bool(removals) == any(value in text for value in values)
