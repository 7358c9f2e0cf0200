"""SuspendExcNodes with the kept nodes: each is an own word `p5-3:1`, which nothing else writes. Pure.

So the words of the controller are found again without the journal. Slurm accepts no `+=` and `-=` beside a word with a
count, so the whole value is set; it then divides the value at every comma, also at those in brackets. Source: Slurm 23.11
to 26.05, power_save.c (_parse_exc_nodes), proc_req.c (_slurm_rpc_set_suspend_exc_nodes).
"""

from collections.abc import Collection

from landbridge.hostlist import without_inner_commas


def with_keeps(value: str, nodes: Collection[str], owned: Collection[str]) -> str:
    """Return the value with a word for each of `nodes`, and without such words of the other nodes in `owned`."""
    words = [word for word in exclusion_words(value) if _kept_node(word) not in owned or _kept_node(word) in nodes]
    present = {_kept_node(word) for word in words}
    words += [f"{node}:1" for node in sorted(nodes) if node not in present]
    if any(":" in word for word in words):
        # A word with a count cannot be divided; those of Landbridge have no comma.
        words = [part for word in words for part in ([word] if ":" in word else without_inner_commas(word))]
    return ",".join(words)


def kept_nodes_of(value: str, owned: Collection[str]) -> list[str]:
    """Return the nodes of `owned` that the value has as kept ones."""
    return [node for word in exclusion_words(value) if (node := _kept_node(word)) in owned]


def exclusion_words(value: str) -> list[str]:
    """Return the words of the value, divided at commas outside of brackets; none for `(null)`."""
    words, depth = [""], 0
    for character in "" if value == "(null)" else value:
        depth += {"[": 1, "]": -1}.get(character, 0)
        if character == "," and depth == 0:
            words.append("")
        else:
            words[-1] += character
    return [word.strip() for word in words if word.strip()]


def _kept_node(word: str) -> str:
    """Return the node of a word `<node>:1`, else an empty text."""
    name, _, count = word.partition(":")
    return name if count == "1" and "[" not in name else ""
