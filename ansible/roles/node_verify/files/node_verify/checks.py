"""Checks by name, and the missing requirements that they report for a machine."""

CHECKS = {}


def check(name, *modes):
    """Register a check: a generator of (message, fix), or (message, fix, "warning"), for a machine."""

    def register(function):
        CHECKS[name] = (function, modes or ("image", "boot"))
        return function

    return register


def lacks(machine, expected, mode):
    """Return the missing requirements of a machine in one mode, as plain data."""
    result = []
    for name, (function, modes) in CHECKS.items():
        if mode in modes and name not in expected.get("skip", ()):
            for message, fix, *level in function(machine, expected, mode):
                result.append({"check": name, "level": (level or ["error"])[0], "message": message, "fix": fix})
    return result


def unit_lacks(machine, names):
    for name in names:
        state = (machine.output("systemctl", "is-enabled", name) or "").strip()
        if state not in ("enabled", "static", "alias", "generated"):
            yield f"{name} does not start at boot", f"install it, and run systemctl enable {name}"
