"""Keep the package lists of the lab's base image small: half of the time of each apt command is reading them.

    small-lists.py SUITE SOURCE...

Of SUITE only the binary packages of these source packages stay, of other suites all packages of the sections that a cluster
can need; and all packages on which these depend. apt compares a list with its signature when it downloads it, so a later
`apt-get update` keeps these lists until the archive changes, and gets whole lists then.
"""

import re
import subprocess
import sys
from pathlib import Path

LISTS = Path("/var/lib/apt/lists")
#: Sections of Debian's archive that no role installs a package of.
# fmt: off
LEFT_OUT = {
    "cli-mono", "doc", "education", "electronics", "embedded", "games", "gnome", "gnustep", "gnu-r", "golang", "hamradio",
    "haskell", "java", "javascript", "kde", "lisp", "news", "ocaml", "otherosfs", "php", "ruby", "rust", "sound", "tex",
    "translations", "xfce", "zope",
}
# fmt: on


def field(paragraph: str, name: str) -> str:
    """Return a field of a package's paragraph; empty without it."""
    match = re.search(rf"^{name}: (.*)$", paragraph, re.M)
    return match[1] if match else ""


def alternatives(relation: str) -> list[list[str]]:
    """Return the alternatives of each dependency of a field such as Depends, without versions and architectures."""
    return [
        [re.split(r"[ :(]", name.strip())[0] for name in words.split("|")]
        for words in relation.split(",")
        if words.strip()
    ]


def with_dependencies(paragraphs: list[str], wanted: list[str]) -> list[str]:
    """Return the wanted paragraphs and those that these depend on: the first alternative, if no other one is among them."""
    providers: dict[str, list[str]] = {}
    for paragraph in paragraphs:
        provided = [name for (name,) in alternatives(field(paragraph, "Provides"))]
        for name in dict.fromkeys([field(paragraph, "Package"), *provided]):
            providers.setdefault(name, []).append(paragraph)
    selection = dict.fromkeys(wanted)
    queue = list(selection)
    while queue:
        paragraph = queue.pop()
        for names in alternatives(", ".join(field(paragraph, key) for key in ("Depends", "Pre-Depends"))):
            candidates = [candidate for name in names for candidate in providers.get(name, [])]
            if candidates and not any(candidate in selection for candidate in candidates):
                selection[candidates[0]] = None
                queue.append(candidates[0])
    return list(selection)


def is_wanted(paragraph: str, sources: set[str]) -> bool:
    """Return true for a binary package of one of the sources; without sources for one of a section that is not left out."""
    if sources:
        return (field(paragraph, "Source") or field(paragraph, "Package")).split(" ")[0] in sources
    return field(paragraph, "Section").rpartition("/")[2] not in LEFT_OUT


def main(suite: str, sources: set[str]) -> None:
    """Replace each list by a smaller one."""
    for path in LISTS.glob("*_Packages*"):
        listed = subprocess.run(
            ["/usr/lib/apt/apt-helper", "cat-file", path], stdout=subprocess.PIPE, check=True
        ).stdout
        paragraphs = [paragraph for paragraph in listed.decode().split("\n\n") if paragraph.strip()]
        chosen = sources if f"_{suite}_" in path.name else set()
        selection = with_dependencies(paragraphs, [text for text in paragraphs if is_wanted(text, chosen)])
        path.unlink()
        (path.parent / f"{path.name.partition('_Packages')[0]}_Packages").write_text("\n\n".join(selection) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], set(sys.argv[2:]))
