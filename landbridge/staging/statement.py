"""Data that a Slurm job states in its comment: `data=NAME:VERSION[,NAME:VERSION]`. Standard library only.

job_submit.lua (landbridge/plan/slurm/jobs/data_lua.py) refuses other forms at submission; the burst controller reads
the accepted ones.
"""

import re

#: Prefix of the AdminComment of a job that is held until its data are in place.
HELD_PREFIX = "landbridge: DATA "
_STATEMENT = re.compile(r"(?:^|[\s;])data=([^\s;]*)")
_REFERENCE = re.compile(r"([a-z0-9][a-z0-9._-]{0,62})[:@]([A-Za-z0-9][A-Za-z0-9._-]{0,62})")


def stated_data(comment: str) -> tuple[str, ...]:
    """Return the datasets of a job's comment as `NAME:VERSION`, in their order; empty without a statement.

    Raises ValueError for a reference of another form.
    """
    statement = _STATEMENT.search(comment)
    if statement is None:
        return ()
    references = []
    for text in statement[1].split(","):
        matched = _REFERENCE.fullmatch(text)
        if matched is None:
            raise ValueError(f"'{text}' is not NAME:VERSION")
        references.append(f"{matched[1]}:{matched[2]}")
    return tuple(dict.fromkeys(references))
