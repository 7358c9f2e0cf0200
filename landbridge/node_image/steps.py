"""Component document of EC2 Image Builder: fetch and verify the archive, build, run the roles again, test the image."""

import hashlib

from landbridge.node_image.bundle import Bundle

_ARCHIVE = "/var/tmp/landbridge-image.tar"
_FOLDER = "/var/tmp/landbridge-image"
#: Limit for the download of some hundred kilobytes, and for the test of the image.
_SHORT_SECONDS = 600


def steps(name: str, archive: Bundle, *, bucket: str, account: str, timeout_minutes: int) -> str:
    """Return the document (YAML) of a component; `name` is its display name.

    Phases: build runs the roles; validate runs them again, which must change nothing, and removes the tools; test
    verifies the image on a separate instance that was launched from it.
    Source: EC2 Image Builder User Guide, "Use the AWSTOE component document framework" and "Action modules" (S3Download, ExecuteBash).
    """
    fetch = f"""\
      - name: Fetch
        action: S3Download
        timeoutSeconds: {_SHORT_SECONDS}
        maxAttempts: 3
        inputs:
          - source: s3://{bucket}/{archive.key}
            destination: {_ARCHIVE}
            expectedBucketOwner: '{account}'
            overwrite: true
"""
    phases = (
        ("build", fetch + _run("Build", archive, "build", timeout_minutes * 60)),
        ("validate", _run("BuildAgain", archive, "again", timeout_minutes * 60) + _remove()),
        ("test", fetch + _run("Verify", archive, "verify", _SHORT_SECONDS) + _remove()),
    )
    text = "".join(f"  - name: {phase}\n    steps:\n{steps_of_phase}" for phase, steps_of_phase in phases)
    return (
        f"name: {name}\ndescription: Runs the roles that configure on-prem nodes\nschemaVersion: 1.0\nphases:\n{text}"
    )


def ingredients(archive: Bundle, timeout_minutes: int) -> str:
    """Return the digest of steps and archive without bucket and account: other steps or roles give another image."""
    text = steps("", archive, bucket="", account="", timeout_minutes=timeout_minutes)
    return hashlib.sha256(text.encode()).hexdigest()


def _run(name: str, archive: Bundle, verb: str, seconds: int) -> str:
    return f"""\
      - name: {name}
        action: ExecuteBash
        timeoutSeconds: {seconds}
        inputs:
          commands:
            - |
              set -eu
              echo '{archive.sha256}  {_ARCHIVE}' | sha256sum --check --quiet -
              rm -rf {_FOLDER}
              mkdir -m 0700 {_FOLDER}
              tar -xf {_ARCHIVE} -C {_FOLDER}
              sh {_FOLDER}/run.sh {verb}
"""


def _remove() -> str:
    return f"""\
      - name: Remove
        action: ExecuteBash
        timeoutSeconds: {_SHORT_SECONDS}
        inputs:
          commands:
            - rm -rf {_FOLDER} {_ARCHIVE}
"""
