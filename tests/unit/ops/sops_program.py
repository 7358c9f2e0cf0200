"""Strict stand-in of the program sops, as a script."""

#: Strict stand-in of the program sops with the two calls of its documentation; its cipher is base64 with a mark.
SOPS = """#!{python}
import base64, os, sys
match sys.argv[1:]:
    case ["decrypt", "--output-type", "yaml", path]:
        mark, _, text = open(path).read().partition(":")
        if mark != "sops":
            sys.exit("sops metadata not found")
        sys.stdout.buffer.write(base64.b64decode(text))
    case ["encrypt", "--filename-override", path, "--input-type", "yaml", "--output-type", "yaml", "/dev/stdin"]:
        if not os.path.exists(os.path.join(os.path.dirname(path), ".sops.yaml")):
            sys.exit("config file not found, or has no creation rules, and no keys provided through command line options")
        print("sops:" + base64.b64encode(sys.stdin.buffer.read()).decode())
    case _:
        sys.exit(f"unknown call {{sys.argv[1:]}}")
"""
