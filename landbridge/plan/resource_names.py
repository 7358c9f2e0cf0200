"""Names of AWS resources: length limits, and the account id that some names end in."""

import hashlib

#: Digits of an AWS account id. Source: AWS Account Management Reference Guide, "AWS account identifiers".
ACCOUNT_DIGITS = 12
#: Prefix of copies of databases in a class's bucket.
BACKUPS_PREFIX = "landbridge-backups"
#: Copies of the site's homes, a repository of restic.
HOMES_PREFIX = f"{BACKUPS_PREFIX}/homes"
#: Prefix of datasets, of which landbridge.datasets.keys has the parts.
DATASETS_PREFIX = "datasets"
#: Prefix of the archive of model registries.
MODELS_PREFIX = "models"


def shortened(name: str, limit: int) -> str:
    """Return a name of at most `limit` characters: a longer one is cut and ends in 8 digits of its SHA-256, so that it stays unique."""
    if len(name) <= limit:
        return name
    return f"{name[: limit - 9]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
