"""Layout of files in blocks."""

from hypothesis import given
from hypothesis import strategies as st

from landbridge.datasets import PlannedBlock, plan_blocks

BLOCK = 1000
SIZES = st.lists(st.integers(0, 3 * BLOCK) | st.integers(0, 40), max_size=80)


def named(sizes: list[int]) -> list[tuple[str, int]]:
    return [(f"file-{number:04}", size) for number, size in enumerate(sizes)]


@given(SIZES)
def test_each_byte_is_in_one_block_in_order_and_no_block_is_too_large(sizes: list[int]) -> None:
    blocks = plan_blocks(named(sizes), BLOCK)
    assert all(0 < block.size <= BLOCK for block in blocks)
    pieces = [piece for block in blocks for piece in block.pieces]
    covered = [(piece.file, byte) for piece in pieces for byte in range(piece.offset, piece.offset + piece.length)]
    assert covered == [(file, byte) for file, size in enumerate(sizes) for byte in range(size)]


@given(SIZES)
def test_a_large_file_has_blocks_of_its_own(sizes: list[int]) -> None:
    for block in plan_blocks(named(sizes), BLOCK):
        assert len(block.pieces) == 1 or all(sizes[piece.file] < BLOCK for piece in block.pieces)


def test_ten_thousand_small_files_are_a_few_packs() -> None:
    assert len(plan_blocks(named([50] * 10_000), 100_000)) <= 20


def test_an_added_file_changes_only_the_packs_near_it() -> None:
    files = named([20] * 5_000)
    added = sorted([*files, ("file-2500-b", 20)])

    def packs(blocks: list[PlannedBlock], listed: list[tuple[str, int]]) -> set[tuple[str, ...]]:
        return {tuple(listed[piece.file][0] for piece in block.pieces) for block in blocks}

    before, after = packs(plan_blocks(files, BLOCK), files), packs(plan_blocks(added, BLOCK), added)
    assert len(before) > 100
    assert len(after - before) <= 6
