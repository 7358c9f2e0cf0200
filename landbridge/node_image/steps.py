"""The document by which Image Builder's agent runs a build: fetch, compare, build, look again, and test what came out."""

import hashlib

from landbridge.node_image.bundle import Bundle

_ARCHIVE = "/var/tmp/landbridge-image.tar"
_FOLDER = "/var/tmp/landbridge-image"
#: Fetching some hundred kilobytes, and looking at what was built.
_SHORT_SECONDS = 600


def steps(name: str, archive: Bundle, *, bucket: str, account: str, timeout_minutes: int) -> str:
    """Return the document (YAML) of a component, `name` in words for people.

    Phases: build runs the roles; validate runs them again, which has to change nothing, and takes the tools away; test,
    on an instance of its own that was started from the image, asks the image what it is.
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
    """The digest of what is done and with what, wherever it is done: other steps or other roles are another image."""
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
