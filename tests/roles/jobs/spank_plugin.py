"""SPANK plugin that does nothing, for any release of Slurm: an ELF file written without a compiler."""

import struct

_PAGE = 0x1000
#: `xor eax, eax; ret`: slurm_spank_init returns success.
_CODE = b"\x31\xc0\xc3"
_NAMES = ("plugin_name", "plugin_type", "plugin_version", "spank_plugin_version", "slurm_spank_init")


def plugin(name: str, release: str) -> bytes:
    """Return the shared object of a plugin of this name, built for `release` (such as 26.05).

    Source: elf(5); slurm/spank.h, SPANK_PLUGIN; slurm/slurm_version.h.
    """
    major, minor = map(int, release.split("."))
    texts = [name.encode() + b"\0", b"spank\0"]
    numbers = [struct.pack("<I", major << 16 | minor << 8 | 1), struct.pack("<I", 1)]
    headers = 64 + 56 * 4
    names = b"\0" + b"".join(symbol.encode() + b"\0" for symbol in _NAMES)
    count = len(_NAMES) + 1
    symbols_at = -(-headers // 8) * 8
    names_at = symbols_at + 24 * count
    hashes_at = -(-(names_at + len(names)) // 8) * 8
    # One bucket with a chain of all symbols: no hash has to be computed.
    chain = [0, *range(count - 1)]
    hashes = struct.pack(f"<{2 + 1 + count}I", 1, count, count - 1, *chain)
    code_at = -(-(hashes_at + len(hashes)) // 16) * 16
    data_at = code_at + 16
    values, data = [], b""
    for piece in (*texts, *numbers):
        data += b"\0" * (-len(data) % 8)
        values.append(data_at + len(data))
        data += piece
    values.append(code_at)
    dynamic_at = -(-(data_at + len(data)) // 8) * 8
    entries = [(4, hashes_at), (5, names_at), (6, symbols_at), (10, len(names)), (11, 24), (0, 0)]
    dynamic = b"".join(struct.pack("<QQ", *entry) for entry in entries)
    total = dynamic_at + len(dynamic)
    sizes = [len(piece) for piece in (*texts, *numbers)] + [len(_CODE)]
    symbols = bytes(24)
    for index, (symbol, value, size) in enumerate(zip(_NAMES, values, sizes, strict=True)):
        kind = 0x12 if symbol == "slurm_spank_init" else 0x11
        symbols += struct.pack("<IBBHQQ", names.index(symbol.encode() + b"\0"), kind, 0, 1 + index, value, size)
    # The dynamic linker writes into its own table: one part that may be read, written and run keeps this short.
    parts = [(1, 7, 0, total, _PAGE), (2, 6, dynamic_at, len(dynamic), 8), (0x6474E551, 6, 0, 0, 16), (0, 0, 0, 0, 0)]
    table = b"".join(
        struct.pack("<IIQQQQQQ", kind, flags, at, at, at, size, size, align) for kind, flags, at, size, align in parts
    )
    header = (
        b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 4, 0, 0, 0)
    )
    image = bytearray(total)
    for at, piece in (
        (0, header),
        (64, table),
        (symbols_at, symbols),
        (names_at, names),
        (hashes_at, hashes),
        (code_at, _CODE),
        (data_at, data),
        (dynamic_at, dynamic),
    ):
        image[at : at + len(piece)] = piece
    return bytes(image)
