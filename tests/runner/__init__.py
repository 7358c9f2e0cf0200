"""Runner of `make test`: tiers, their processes, results, and the repetition of failed tests."""
