"""Reviewed results of `landbridge adopt` for the three shapes.

After an intended change: python -m tests.unit.existing_slurm.golden, and review the difference.
"""

import shutil

from tests.unit.existing_slurm.samples import DATA, SHAPES, folder, request, written


def main() -> None:
    """Rewrite every file."""
    for shape in SHAPES:
        expected = DATA / shape / "expected"
        shutil.rmtree(expected, ignore_errors=True)
        expected.mkdir()
        result = written(folder(shape), request(shape))
        assert result.files is not None, result.findings
        for name, text in {**result.files, "Pulumi.acme.yaml": result.environment}.items():
            (expected / name).write_text(text)


if __name__ == "__main__":
    main()
