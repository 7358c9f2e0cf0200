"""Signature of a folder with an elliptic key, or with a certificate of the site's CA (package model_signing).

The library reads keys from files: the key is in a file of the memory of this process, and never on a disk.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from landbridge.findings import Finding
from landbridge.models.files.folder import read_folder
from landbridge.models.names import SIGNATURE_FILE
from landbridge.models.signers import RULE


def sign_folder(folder: Path, key: str, certificates: tuple[str, ...] = ()) -> list[Finding]:
    """Write the signature of a model folder; return all reasons why it is not signed.

    `key`: in PEM. `certificates`: the signer's one and those of intermediate CAs, in PEM; without them the signature is that of
    a bare key. A model folder without a version, or with a refused file, is not signed.
    """
    content = read_folder(folder)
    if isinstance(content, list):
        return content
    if not content.manifest.version:
        fix = "register it: landbridge model register"
        return [Finding(RULE, "the manifest has no version: the registry assigns it", fix=fix)]
    return _write_signature(folder, key, certificates)


def sign_program_folder(folder: Path, key: str, certificates: tuple[str, ...] = ()) -> list[Finding]:
    """Write the signature of a folder that another program loads; return all reasons why it is not signed.

    All of its files are signed, of any format. Symbolic links are refused: their targets could be changed later.
    """
    if not any(path.is_file() and path.name != SIGNATURE_FILE for path in folder.rglob("*")):
        return [Finding(RULE, f"{folder} has no files")]
    links = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_symlink())
    if links:
        fix = "copy the files with their content: cp -rL"
        return [Finding(RULE, f"{name} is a symbolic link", fix=fix, file=name) for name in links]
    return _write_signature(folder, key, certificates)


def _write_signature(folder: Path, key: str, certificates: tuple[str, ...]) -> list[Finding]:
    from model_signing.hashing import Config as HashingConfig
    from model_signing.signing import Config

    config: Any = Config()
    with ExitStack() as files:
        try:
            key_file = files.enter_context(_memory_file(key))
            if certificates:
                signer, *chain = [files.enter_context(_memory_file(each)) for each in certificates]
                # The library reads no empty chain.
                config.use_certificate_signer(
                    private_key=key_file, signing_certificate=signer, certificate_chain=chain or [signer]
                )
            else:
                config.use_elliptic_key_signer(private_key=key_file)
        except (ValueError, TypeError, AttributeError) as error:
            # The library's messages contain no key.
            return [Finding(RULE, f"the key cannot sign: {error}")]
        hashing = HashingConfig().set_ignored_paths(paths=[SIGNATURE_FILE], ignore_git_paths=False)
        with TemporaryDirectory(prefix=".sign-", dir=folder.parent) as temporary:
            written = Path(temporary) / SIGNATURE_FILE
            config.set_hashing_config(hashing).sign(folder, written)
            os.replace(written, folder / SIGNATURE_FILE)
    return []


@contextmanager
def _memory_file(text: str) -> Iterator[Path]:
    """Yield the path of a file in memory, which only this process can open."""
    descriptor = os.memfd_create("landbridge-model", os.MFD_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
        yield Path(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)
