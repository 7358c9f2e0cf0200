"""`python -m sandbox.pulumi_provider`: get an engine, or print the variables with which `pulumi` uses the stand-ins.

eval "$(python -m sandbox.pulumi_provider env sandbox)"; pulumi preview -s sandbox
"""

import argparse
import shlex
import sys

from sandbox.pulumi_provider.engine.environment import sandbox_variables
from sandbox.pulumi_provider.engine.find import Engine, find_engine, get_engine


def main() -> int:
    """Parse and print; exit 1 where there is no engine."""
    parser = argparse.ArgumentParser(prog="python -m sandbox.pulumi_provider", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("get", help="find, install or build the engine and print its path")
    commands.add_parser("find", help="print the path of the engine that is already here")
    variables = commands.add_parser("env", help="print `export` lines for a shell")
    variables.add_argument("environment", nargs="?", default="sandbox", help="whose state to use")
    chosen = parser.parse_args()
    if chosen.command == "get":
        engine = get_engine(lambda line: print(line, file=sys.stderr, flush=True))
    else:
        engine = find_engine()
    if not isinstance(engine, Engine):
        print(engine, file=sys.stderr)
        if chosen.command != "env":
            return 1
    if chosen.command == "env":
        found = engine if isinstance(engine, Engine) else None
        for name, value in sandbox_variables(chosen.environment, found).items():
            print(f"export {name}={shlex.quote(value)}")
        return 0
    print(engine.program)
    return 0


if __name__ == "__main__":
    sys.exit(main())
