"""docs/how-to/add-an-instance-type.md, followed literally in a copy of the checkout."""

from pathlib import Path

from tests.unit.how_to.pages import ROOT, Step, copy_of_the_checkout, run, steps, write

PAGE = ROOT / "docs/how-to/add-an-instance-type.md"


def test_the_page_works_as_it_is_written(tmp_path: Path) -> None:
    folder = copy_of_the_checkout(tmp_path)
    followed = list(steps(PAGE))
    written = [step.file for step in followed if step.file]
    assert written == ["landbridge/catalog/instances/g5g.yaml"], "one file is what the page promises"
    for step in followed:
        if step.file is not None:
            write(step, folder)
            continue
        _follow(step, folder, refused=step.command == "landbridge catalog show g5g.16xlarge")
    layout = "from landbridge.plan.instances.network_interfaces import nic_layout; print(nic_layout('g5g.16xlarge'))"
    assert "type='interface'" in run(f'python -c "{layout}"', folder).stdout
    assert "g5g.16xlarge" in (folder / "docs/reference/catalogue.md").read_text()
    assert '"g5g.16xlarge"' in (folder / "stacks/environment.schema.json").read_text()
    assert not (ROOT / "landbridge/catalog/instances/g5g.yaml").exists()


def _follow(step: Step, folder: Path, *, refused: bool) -> None:
    assert step.command is not None
    done = run(step.command, folder)
    assert done.returncode == (2 if refused else 0), f"{step.command}\n{done.stdout[-4000:]}"
    assert done.stdout.startswith(step.output.strip("\n")), f"{step.command}\n{done.stdout}"
