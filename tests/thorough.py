"""Number of examples of a property test: `make test-long` uses more, and new ones every time."""

import os

LONG = os.environ.get("LANDBRIDGE_TESTS_LONG") == "yes"


def examples(usual: int, thorough: int) -> int:
    """Return the number of examples; LANDBRIDGE_EXAMPLES, if it is set, is the number for all."""
    return int(os.environ.get("LANDBRIDGE_EXAMPLES") or (thorough if LONG else usual))
