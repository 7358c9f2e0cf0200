"""Patterns of secrets in clear text."""

import re

#: Kind of secret and its pattern. Source: AWS IAM identifiers; RFC 7468; the tokens' own documentation.
PATTERNS = {
    "an AWS access key": re.compile(r"\b(AKIA|ASIA)[A-Z0-9]{16}\b"),
    "a private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "a GitHub token": re.compile(r"\bgh[pousr]_[A-Za-z0-9]{36,}\b"),
    "a password in an address": re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s/:@]+:[^\s/@]+@"),
}
#: Shell and YAML that set a secret to a literal; a reference to a variable, a command or a file does not match.
_LITERAL = re.compile(
    r"(?im)^\s*(?:export\s+)?[\w.-]*(?:password|passwd|secret[_-]?key|secret|api[_-]?key|token)\s*[=:]\s*[\"']?(?![\"'\s$(<]|/)(\S{6,})"
)


def secrets_in(text: str) -> list[str]:
    """Return the kinds of secret that a text contains."""
    kinds = [kind for kind, pattern in PATTERNS.items() if pattern.search(text)]
    return kinds + (["a secret's literal value"] if _LITERAL.search(text) else [])
