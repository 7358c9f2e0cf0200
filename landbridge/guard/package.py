"""Files of the Lambda function, and the same archive of them on every machine."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

#: The oldest date a zip can hold: when the archive was made is no part of what it is.
_EPOCH = (1980, 1, 1, 0, 0, 0)
_READABLE = 0o644
HANDLER = "reaper.handler"


def files() -> dict[str, str]:
    """Return the function's files by name."""
    return {"reaper.py": (Path(__file__).parent / "reaper.py").read_text(encoding="utf-8")}


def archive(contents: Mapping[str, str]) -> bytes:
    """Return a zip that depends on the contents alone: not on order, clock, owner or platform."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as zip_file:
        for name in sorted(contents):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system, entry.external_attr = 3, _READABLE << 16
            zip_file.writestr(entry, contents[name].encode())
    return buffer.getvalue()
