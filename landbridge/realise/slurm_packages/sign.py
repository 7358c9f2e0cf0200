"""Signature of the repository with the operator's own key, which is generated on first use and stays on their machine."""

import subprocess
from pathlib import Path

from landbridge.realise.slurm_packages.errors import PackagesError

_USER = "landbridge packages"


def sign(release: Path, home: Path, public_key: Path) -> None:
    """Sign a `Release` file as `InRelease` in its folder, and write the public key. `home` is GnuPG's folder, 0700."""
    home.mkdir(parents=True, exist_ok=True)
    home.chmod(0o700)
    if not _gpg(home, "--list-secret-keys", "--with-colons").strip():
        _gpg(
            home,
            "--pinentry-mode",
            "loopback",
            "--passphrase",
            "",
            "--quick-generate-key",
            _USER,
            "ed25519",
            "sign",
            "never",
        )
    try:
        _gpg(home, "--yes", "--clearsign", "--output", str(release.with_name("InRelease")), str(release))
        _gpg(home, "--yes", "--armor", "--output", str(public_key), "--export", _USER)
    finally:
        subprocess.run(
            ["gpgconf", "--homedir", home, "--kill", "gpg-agent"], capture_output=True, check=False, timeout=30
        )


def _gpg(home: Path, *words: str) -> str:
    command = ["gpg", "--homedir", str(home), "--batch", "--quiet", *words]
    try:
        completed = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    except OSError:
        raise PackagesError("gpg is missing", "apt-get install gnupg") from None
    if completed.returncode != 0:
        raise PackagesError(f"gpg: {completed.stderr.strip()}", f"check the folder {home}")
    return completed.stdout
