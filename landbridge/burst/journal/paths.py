"""Default paths of the burst programs' files; burst.json may set others. No imports: ResumeProgram and SuspendProgram read this."""

CONFIG = "/etc/landbridge/burst.json"
CONFIG_VARIABLE = "LANDBRIDGE_BURST_CONFIG"
STATE_DIR = "/var/lib/landbridge"
SOCKET = "/run/landbridge/burst.sock"
METRICS = "127.0.0.1:9810"
# In the state folder.
DATABASE = "burst.db"
DECISIONS = "decisions.jsonl"
LOCK = "burst.lock"
RECORDS = "residency-records"
# In the snapshot folder.
SNAPSHOT = "burst-journal.json"
CHARGES = "burst-charges"


def prolog_socket(socket: str) -> str:
    """Return the path of the socket for PrologSlurmctld, beside the socket of the other programs: burst-prolog.sock."""
    stem, dot, suffix = socket.rpartition(".")
    return f"{stem}-prolog.{suffix}" if dot and "/" not in suffix else f"{socket}-prolog"
