"""Names of datasets and of their files: each one is refused with a reason, or kept as it is."""

import pytest

from landbridge.datasets import case_collisions, parse_reference, path_fault

REFUSED = ["", "/etc/passwd", "../up", "a/../../b", "a//b", "a/", "./a", ".", "a\nb", "a\x00b", "\x7f", "a\x85b"]
TOO_LONG = ["x" * 256, "d/" * 1600 + "f"]


@pytest.mark.parametrize("path", [*REFUSED, *TOO_LONG, "a\udcffb", ".landbridge-dataset.json"])
def test_a_path_that_cannot_be_staged_safely_is_refused(path: str) -> None:
    assert path_fault(path) is not None


@pytest.mark.parametrize(
    "path",
    [
        "a",
        "a/b.c",
        "a b",
        "'\"$`\\",
        "-rf",
        "~",
        "...",
        "..a",
        "ü",
        "日本/語",
        "sub/.landbridge-dataset.json",
        "x" * 255,
    ],
)
def test_other_printable_names_are_kept(path: str) -> None:
    assert path_fault(path) is None


def test_names_that_differ_only_in_case_or_unicode_form_are_pairs() -> None:
    paths = ["A.jpg", "a.jpg", "b", "caf\u00e9", "cafe\u0301"]
    assert case_collisions(paths) == [("A.jpg", "a.jpg"), ("caf\u00e9", "cafe\u0301")]


def test_a_reference_is_a_name_with_or_without_a_version() -> None:
    assert parse_reference("corpus") == ("corpus", None)
    assert parse_reference("corpus.en:2026-11_B") == ("corpus.en", "2026-11_B")


@pytest.mark.parametrize("text", ["", "Corpus", "a/b", "../a", "a:", "a:b/c", "a:b:c", ".a", "a b", "x" * 64])
def test_another_reference_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="dataset"):
        parse_reference(text)
