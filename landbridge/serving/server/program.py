"""Start of Triton or vLLM after the signature of its folder is verified: these programs verify none.

The process becomes the program, so that systemd's signals reach it. The program reads the folder again: only root may write there.
Run as `python -m landbridge.serving.server.program --folder FOLDER --trust PEM --model NAME -- PROGRAM ARGUMENTS`.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from landbridge.serving.load import ExpectedModel, FolderRefusal, check_folder

#: Exit status of a refused folder, which systemd does not start again. Source: sysexits.h, EX_CONFIG; the programs themselves exit with 1.
REFUSED = 78


def main(argv: Sequence[str] | None = None) -> int:
    """Verify the folder and become the program; return REFUSED for a refused folder or an absent program."""
    parser = argparse.ArgumentParser(prog="landbridge.serving.server.program")
    parser.add_argument("--folder", type=Path, required=True, help="folder that the program loads")
    parser.add_argument("--trust", type=Path, required=True, help="certificates and public keys, in PEM")
    parser.add_argument("--model", required=True, help="model that the service serves")
    parser.add_argument("--data-class", default="", help="data class of the service")
    parser.add_argument("command", nargs="+", metavar="PROGRAM", help="program and its arguments, after --")
    options = parser.parse_args(argv)
    try:
        signer = check_folder(options.folder, options.trust, ExpectedModel(options.model, options.data_class))
    except FolderRefusal as error:
        print(f"refused: {options.folder}: {error}", file=sys.stderr, flush=True)
        return REFUSED
    print(f"{options.folder} is signed by {signer}", file=sys.stderr, flush=True)
    try:
        os.execv(options.command[0], options.command)
    except OSError as error:
        print(f"refused: {options.command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        return REFUSED


if __name__ == "__main__":
    sys.exit(main())
