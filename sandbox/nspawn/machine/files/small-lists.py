"""Keep the package lists of the lab's base image small: half of the time of each apt command is reading them.

    small-lists.py SUITE SOURCE...

Of SUITE only the binary packages of these source packages stay, with their dependencies; of other suites all packages whose
section a cluster can need. apt compares a list with its signature when it downloads it, so a later `apt-get update` keeps
these lists until the archive changes, and gets whole lists then.
"""

import re
import subprocess
import sys
from pathlib import Path

LISTS = Path("/var/lib/apt/lists")
#: Sections of Debian's archive that no package of a cluster is in, nor a dependency of one.
# fmt: off
LEFT_OUT = {
    "cli-mono", "debug", "doc", "education", "electronics", "embedded", "games", "gnome", "gnustep", "gnu-r", "golang",
    "hamradio", "haskell", "java", "javascript", "kde", "lisp", "localization", "news", "ocaml", "otherosfs", "php", "ruby",
    "rust", "science", "sound", "tasks", "tex", "translations", "video", "xfce", "zope",
}
# fmt: on


def field(paragraph: str, name: str) -> str:
    """Return a field of a package's paragraph; empty without it."""
    match = re.search(rf"^{name}: (.*)$", paragraph, re.M)
    return match[1] if match else ""


def names(relation: str) -> set[str]:
    """Return the package names of a field such as Depends, alternatives included, without versions and architectures."""
    return {re.split(r"[ :(]", word.strip())[0] for word in re.split(r"[,|]", relation) if word.strip()}


def with_dependencies(paragraphs: list[str], sources: set[str]) -> list[str]:
    """Return the paragraphs of the binary packages of `sources`, and of all that these packages depend on."""
    providers: dict[str, list[str]] = {}
    for paragraph in paragraphs:
        for name in {field(paragraph, "Package"), *names(field(paragraph, "Provides"))}:
            providers.setdefault(name, []).append(paragraph)
    wanted = [
        field(paragraph, "Package")
        for paragraph in paragraphs
        if (field(paragraph, "Source") or field(paragraph, "Package")).split(" ")[0] in sources
    ]
    kept: dict[str, None] = {}
    while wanted:
        for paragraph in providers.get(wanted.pop(), []):
            if paragraph not in kept:
                kept[paragraph] = None
                wanted += names(field(paragraph, "Depends")) | names(field(paragraph, "Pre-Depends"))
    return list(kept)


def main(suite: str, sources: set[str]) -> None:
    """Replace each list by a smaller one."""
    for path in LISTS.glob("*_Packages*"):
        text = subprocess.run(["/usr/lib/apt/apt-helper", "cat-file", path], stdout=subprocess.PIPE, check=True).stdout
        paragraphs = [paragraph for paragraph in text.decode().split("\n\n") if paragraph.strip()]
        if f"_{suite}_" in path.name:
            kept = with_dependencies(paragraphs, sources)
        else:
            kept = [text for text in paragraphs if field(text, "Section").rpartition("/")[2] not in LEFT_OUT]
        path.unlink()
        (path.parent / f"{path.name.partition('_Packages')[0]}_Packages").write_text("\n\n".join(kept) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], set(sys.argv[2:]))
