"""Published cost models as YAML files without code: their inputs, and their printed values beside the recomputed ones."""
