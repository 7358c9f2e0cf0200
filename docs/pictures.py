"""Architecture picture of each environment, drawn from its resource graph: docs/pictures/ENV.svg.

`python docs/pictures.py [ENV ...]` writes them again; a test fails if one is out of date.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT)]
FOLDER = ROOT / "docs" / "pictures"


def main() -> None:
    """Draw the environments given as arguments, or all; delete the pictures of environments that no longer exist."""
    from tests.graph.golden import SHIPPED, environment_of, recorded
    from tests.graph.support.picture import picture

    FOLDER.mkdir(exist_ok=True)
    os.chdir(ROOT / "stacks")
    for path in FOLDER.glob("*.svg"):
        if path.stem not in SHIPPED:
            path.unlink()
    for name in sys.argv[1:] or SHIPPED:
        (FOLDER / f"{name}.svg").write_text(picture(environment_of(name), recorded(name)))


if __name__ == "__main__":
    main()
