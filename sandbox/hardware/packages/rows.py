"""From the rows of data/*.yaml to packages. Pure; a row with a key that is not known here fails."""

from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

import yaml

from sandbox.hardware.packages.deb import Package

#: Control fields that a row may give, a list each.
_FIELDS = ("depends", "recommends", "provides", "conflicts", "replaces", "breaks")
_KEYS = {"package", "each", "version", "source", "services", "files", *_FIELDS}
#: A service that does nothing, for as long as it is told to.
_UNIT = """[Unit]
Description={name} (lab)

[Service]
ExecStart={program}

[Install]
WantedBy=multi-user.target
"""


def suites() -> Mapping[str, list[Package]]:
    """The packages of every suite, from all files of data/."""
    suites: dict[str, list[Package]] = {}
    for file in sorted((files("sandbox.hardware.packages") / "data").iterdir(), key=lambda path: path.name):
        read = yaml.safe_load(file.read_text())
        for suite, rows in read["suites"].items():
            suites.setdefault(suite, []).extend(package for row in rows for package in _packages(row))
    return suites


def _packages(row: Mapping[str, Any]) -> Iterator[Package]:
    strange = set(row) - _KEYS
    if strange:
        raise ValueError(f"{row['package']}: unknown {', '.join(sorted(strange))}")
    for release in row.get("each", [""]):
        # `{v}` is the release, `{b}` its branch.
        words = {"v": str(release), "b": str(release).partition(".")[0]}
        fields = {key.title(): ", ".join(_filled(one, words) for one in row[key]) for key in _FIELDS if key in row}
        if "source" in row:
            fields["Source"] = _filled(row["source"], words)
        contents = {path: _filled(text, words) for path, text in row.get("files", {}).items()}
        for unit, program in row.get("services", {}).items():
            contents[f"/usr/lib/systemd/system/{unit}.service"] = _UNIT.format(name=unit, program=program)
        yield Package(_filled(row["package"], words), _filled(row["version"], words), fields, contents)


def _filled(text: str, words: Mapping[str, str]) -> str:
    for key, value in words.items():
        text = text.replace(f"{{{key}}}", value)
    return text
