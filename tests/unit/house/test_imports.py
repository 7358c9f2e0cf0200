"""Imports between modules form no cycle; `.importlinter` has the contracts between folders."""

from graphlib import TopologicalSorter

import grimp


def test_no_modules_import_each_other_in_a_cycle() -> None:
    graph = grimp.build_graph("landbridge", "components", "sandbox", cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    # static_order() raises CycleError with the modules of a cycle.
    order = list(TopologicalSorter(imports).static_order())
    assert order.index("landbridge.findings") < order.index("landbridge.cli.environment.check")
