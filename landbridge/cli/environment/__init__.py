"""Commands about an environment file: `check`, `explain`, `new`, `schema` and `show`."""
