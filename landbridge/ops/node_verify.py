"""Check of a machine against the contract of a node image, over ssh or on this machine.

The program is that of the role node_verify, sent as one file: nothing has to be installed on the machine, and nothing remains.
"""

import base64
import io
import json
import subprocess
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAM = Path("ansible/roles/node_verify/files/node_verify")
_TIMEOUT_SECONDS = 300
_MAIN = "import sys\nfrom node_verify.__main__ import main\nsys.exit(main(sys.argv[1:]))\n"
_SCRIPT = (
    'file=$(mktemp) && trap \'rm -f "$file"\' EXIT && cat > "$file"'
    ' && if [ "$(id -u)" = 0 ]; then root=; else root="sudo --non-interactive"; fi && $root python3 -sB "$file"'
)


class NodeVerifyError(Exception):
    """A machine on which the program could not run; the message is ssh's or the program's."""


@dataclass(frozen=True, slots=True)
class Lack:
    """Requirement that a machine does not meet. `level` is error or warning."""

    check: str
    level: str
    message: str
    fix: str

    def to_dict(self) -> dict[str, str]:
        """Return plain data, for `--format json`."""
        return {"check": self.check, "level": self.level, "message": self.message, "fix": self.fix}


def verify(expectations: Mapping[str, Any], mode: str, host: str | None) -> tuple[Lack, ...]:
    """Return the missing requirements of a machine: `user@address`, or this machine if `host` is None. Raises NodeVerifyError."""
    encoded = base64.b64encode(json.dumps(expectations).encode()).decode()
    script = f"{_SCRIPT} {mode} --json --expectations base64:{encoded}"
    options = ("BatchMode=yes", "ConnectTimeout=10")
    ssh = ["ssh", *(word for option in options for word in ("-o", option)), "--", host] if host else ["sh", "-c"]
    try:
        completed = subprocess.run(
            [*ssh, script], input=archive(), capture_output=True, timeout=_TIMEOUT_SECONDS, check=False
        )
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        raise NodeVerifyError(str(error)) from None
    try:
        return tuple(Lack(**lack) for lack in json.loads(completed.stdout))
    except (ValueError, TypeError):
        text = (completed.stderr or completed.stdout).decode(errors="replace").strip()
        raise NodeVerifyError(text[-500:] or f"exit status {completed.returncode}") from None


def archive(folder: Path = PROGRAM) -> bytes:
    """Return the program as one file that Python runs. Raises NodeVerifyError outside a checkout."""
    modules = sorted(folder.glob("*.py"))
    if not modules:
        raise NodeVerifyError(f"there is no {folder} here: run it from a Landbridge checkout")
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        for module in modules:
            file.write(module, f"node_verify/{module.name}")
        file.writestr("__main__.py", _MAIN)
    return content.getvalue()
