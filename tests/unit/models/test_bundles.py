"""Air-gap bundles on disk: their bytes, and tar files that are none."""

import hashlib
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from landbridge.models.air_gap import TAR_FORMAT, bundle_member, bundle_texts, members_in_order
from landbridge.models.files.bundle import unpack_bundle, write_bundle
from tests.unit.models.folders import manifest_of

TAGS = {"landbridge.history.000001": "{}"}
FILES = {"model.json": manifest_of(b"weights").to_json().encode(), "model.onnx": b"weights", "model.sig": b"{}"}


def folder_of(files: Mapping[str, bytes], place: Path) -> dict[str, str]:
    """Write files; return their SHA-256."""
    place.mkdir()
    for name, content in files.items():
        (place / name).write_bytes(content)
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def tar_of(members: Mapping[str, bytes], target: Path, form: int = tarfile.USTAR_FORMAT) -> Path:
    with tarfile.open(target, mode="w", format=form) as archive:
        for name, content in members.items():
            archive.addfile(bundle_member(name, len(content)), io.BytesIO(content))
    return target


def with_texts(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the members of a bundle in their order."""
    texts = bundle_texts({name: hashlib.sha256(content).hexdigest() for name, content in files.items()}, TAGS)
    return {name: {**files, **texts}[name] for name in members_in_order(files)}


def refusal(bundle: Path, place: Path) -> str:
    place.mkdir()
    findings = unpack_bundle(bundle, place)
    assert isinstance(findings, list), findings
    return "; ".join(finding.message for finding in findings)


def test_a_bundle_is_unpacked_as_it_was_written_and_its_bytes_are_those_of_ustar(tmp_path: Path) -> None:
    digests = folder_of(FILES, tmp_path / "a")
    write_bundle(tmp_path / "a", digests, TAGS, tmp_path / "bundle.tar")
    (tmp_path / "b").mkdir()
    assert unpack_bundle(tmp_path / "bundle.tar", tmp_path / "b") == TAGS
    assert {path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()} == FILES
    # Archives that an earlier version of this program wrote have these bytes.
    assert tar_of(with_texts(FILES), tmp_path / "old.tar").read_bytes() == (tmp_path / "bundle.tar").read_bytes()


def test_a_member_of_8_gib_has_a_further_header_and_a_smaller_one_has_that_of_ustar() -> None:
    smaller = bundle_member("model.safetensors", 8 * 2**30 - 1)
    assert smaller.tobuf(TAR_FORMAT) == smaller.tobuf(tarfile.USTAR_FORMAT)
    larger = bundle_member("model.safetensors", 140 * 10**9)
    with pytest.raises(ValueError, match="overflow"):
        larger.tobuf(tarfile.USTAR_FORMAT)
    buffer = larger.tobuf(TAR_FORMAT)
    with tarfile.open(fileobj=io.BytesIO(buffer + bytes(1024)), mode="r:") as archive:
        member = archive.next()
    assert member is not None and (member.name, member.size) == ("model.safetensors", 140 * 10**9)
    # Each header has the same bytes in each bundle: no time and no number of a process.
    assert buffer == bundle_member("model.safetensors", 140 * 10**9).tobuf(TAR_FORMAT)


@pytest.mark.parametrize("name", ["../model.json", "/etc/passwd", "hook.py", "model.json/x"])
def test_a_bundle_with_another_member_is_refused(name: str, tmp_path: Path) -> None:
    tar = tar_of(with_texts({**FILES, name: b"x"}), tmp_path / "x.tar")
    assert "is not a member" in refusal(tar, tmp_path / "out")
    assert not (tmp_path / "model.json").exists()


def test_a_bundle_without_a_signature_or_of_other_bytes_is_refused(tmp_path: Path) -> None:
    unsigned = tar_of(with_texts({name: FILES[name] for name in FILES if name != "model.sig"}), tmp_path / "u.tar")
    assert "model.sig" in refusal(unsigned, tmp_path / "0")
    whole = tar_of(with_texts(FILES), tmp_path / "w.tar").read_bytes()
    changed = whole.replace(b"\0weights\0", b"\0wEights\0")
    assert changed != whole
    for number, (content, reason) in enumerate(
        [(b"", "not a tar"), (b"no tar file", "not a tar"), (whole[:700], "not a tar"), (changed, "its checksum")], 1
    ):
        (tmp_path / "d.tar").write_bytes(content)
        assert reason in refusal(tmp_path / "d.tar", tmp_path / str(number))


def test_a_further_header_of_many_bytes_and_a_sparse_member_are_refused(tmp_path: Path) -> None:
    long = tarfile.TarInfo("model.onnx")
    long.pax_headers = {"comment": "x" * 5000}
    (tmp_path / "long.tar").write_bytes(long.tobuf(tarfile.PAX_FORMAT) + bytes(1024))
    assert "a header has" in refusal(tmp_path / "long.tar", tmp_path / "0")
    sparse = tarfile.TarInfo("model.onnx")
    sparse.pax_headers = {"GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.map": "0,0,1000000000000,0"}
    sparse.pax_headers |= {"GNU.sparse.size": "1000000000000"}
    (tmp_path / "sparse.tar").write_bytes(sparse.tobuf(tarfile.PAX_FORMAT) + bytes(1024))
    assert "is not a member" in refusal(tmp_path / "sparse.tar", tmp_path / "1")
    assert list((tmp_path / "1").iterdir()) == []
