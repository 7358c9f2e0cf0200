"""A test ends a program for lack of progress, by pytest's limit, and not because the machine is busy."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[3]
RUNS = {"run", "check_output", "check_call"}
WAITS = {"communicate", "wait"}
#: Seconds from which a literal is a limit of total time; a smaller one is a value that the test is about.
LEAST_SECONDS = 20
#: Removes the lab at the end of a run, when no pytest limits it.
EXEMPT = {"tests/runner/shared_lab.py"}


def limits(source: str) -> list[int]:
    """Return the lines of calls that end a program after a literal number of seconds."""
    if "timeout=" not in source:
        return []
    return [
        call.lineno
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and _runs_a_program(call.func)
        for keyword in call.keywords
        if keyword.arg == "timeout"
        and isinstance(keyword.value, ast.Constant)
        and isinstance(keyword.value.value, (int, float))
        and keyword.value.value >= LEAST_SECONDS
    ]


def _runs_a_program(function: ast.Attribute) -> bool:
    of_subprocess = isinstance(function.value, ast.Name) and function.value.id == "subprocess"
    return (of_subprocess and function.attr in RUNS) or function.attr in WAITS


def test_limits_of_total_time_are_recognised() -> None:
    assert limits("subprocess.run(line, timeout=60)\nprocess.wait(timeout=2)\nprocess.communicate(timeout=300.0)") == [
        1,
        3,
    ]


def test_no_test_limits_the_total_time_of_a_program() -> None:
    files = {file.relative_to(ROOT).as_posix(): file for file in (ROOT / "tests").rglob("*.py")}
    assert "tests/unit/core/test_cli.py" in files
    limited = {
        name: lines for name, file in files.items() if (lines := limits(file.read_text())) and name not in EXEMPT
    }
    assert limited == {}
