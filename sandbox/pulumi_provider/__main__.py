"""`python -m sandbox.pulumi_provider`: get an engine, or print the environment variables for `pulumi`.

eval "$(python -m sandbox.pulumi_provider env sandbox)"; pulumi preview -s sandbox
"""

import argparse
import shlex
import sys

from sandbox.pulumi_provider.engine.environment import sandbox_variables
from sandbox.pulumi_provider.engine.find import Engine, find_engine, get_engine


def main() -> int:
    """Run the command and print its result; return 1 if there is no engine."""
    parser = argparse.ArgumentParser(prog="python -m sandbox.pulumi_provider", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("get", help="find, install or build the engine and print its path")
    commands.add_parser("find", help="print the path of the engine that is already installed")
    variables = commands.add_parser("env", help="print `export` lines for a shell")
    variables.add_argument("environment", nargs="?", default="sandbox", help="environment with the state to use")
    arguments = parser.parse_args()
    if arguments.command == "get":
        engine = get_engine(lambda line: print(line, file=sys.stderr, flush=True))
    else:
        engine = find_engine()
    if not isinstance(engine, Engine):
        print(engine, file=sys.stderr)
        if arguments.command != "env":
            return 1
    if arguments.command == "env":
        available_engine = engine if isinstance(engine, Engine) else None
        for name, value in sandbox_variables(arguments.environment, available_engine).items():
            print(f"export {name}={shlex.quote(value)}")
        return 0
    if isinstance(engine, Engine):
        print(engine.program)
    return 0


if __name__ == "__main__":
    sys.exit(main())
