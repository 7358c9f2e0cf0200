"""Command `python -m bench.burst`."""

import sys

from bench.burst.parts import main

sys.exit(main())
