"""Scripts of a pool: download from S3, comparison of the checksum, and a run with a time limit."""

import hashlib
import os
import signal
import subprocess

#: Largest script in bytes: it is held in memory. Larger software belongs into the image, or the script fetches it.
LARGEST = 16 * 2**20
#: Bytes of a log's end on the console: EC2 keeps 64 KiB of it. Source: EC2 API Reference, GetConsoleOutput.
LOG_END = 4096


class Failed(Exception):
    """Error: the node may not take jobs. `log` is the script's log, if it has run."""

    def __init__(self, reason, log=None):
        super().__init__(" ".join(str(reason).split()))
        self.log = log


def title(event, script):
    return f"{event} {script['key'].rsplit('/', 1)[-1]}"


def client(pool, region):
    """Return a client of S3 with the credentials of the instance."""
    import boto3
    from botocore.config import Config

    # The host name of a custom endpoint does not resolve with the bucket's name as a prefix.
    style = {"s3": {"addressing_style": "path"}} if pool.get("endpoint") else {}
    fips = {"use_fips_endpoint": True} if pool.get("fips") else {}
    retries = {"mode": "standard", "total_max_attempts": 5}
    options = Config(connect_timeout=3, read_timeout=20, retries=retries, **style, **fips)
    return boto3.client("s3", region_name=region, endpoint_url=pool.get("endpoint"), config=options)


def download(event, script, pool):
    """Return the content of a script whose checksum is right. Raises Failed."""
    from botocore.exceptions import BotoCoreError, ClientError

    name, place = title(event, script), f"s3://{script['bucket']}/{script['key']}"
    try:
        answer = client(pool, script.get("region") or pool["region"]).get_object(
            Bucket=script["bucket"], Key=script["key"]
        )
        size = answer["ContentLength"]
        content = answer["Body"].read() if size <= LARGEST else None
    except ClientError as error:
        code = error.response["Error"]["Code"]
        # S3 answers AccessDenied for a missing object to callers who may not list the bucket.
        hint = ": it is missing, or the nodes' role may not read it" if code == "AccessDenied" else ""
        raise Failed(f"{name}: {place}: {code}{hint}") from None
    except (BotoCoreError, OSError) as error:
        raise Failed(f"{name}: {place}: {error}") from None
    if content is None:
        raise Failed(f"{name}: {place} has {size} bytes, more than {LARGEST}")
    digest = hashlib.sha256(content).hexdigest()
    if digest != script["sha256"]:
        raise Failed(f"{name}: {place} has the sha256 {digest}, not {script['sha256']}")
    return content


def run(event, number, script, content, pool, root):
    """Run a script as root, with its output in a log. Raises Failed with the log."""
    name = title(event, script)
    # /run may not hold programs: it is mounted with noexec.
    folder, logs = root / "var/lib/landbridge/actions", root / "var/log/landbridge"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    logs.mkdir(mode=0o755, parents=True, exist_ok=True)
    file_name = f"{event}-{number}-{script['key'].rsplit('/', 1)[-1]}"
    path, log = folder / file_name, logs / f"{file_name}.log"
    write(path, content, 0o700)
    write(log, b"", 0o600)
    variables = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/root",
        "LANDBRIDGE_CLUSTER": pool["cluster"],
        "LANDBRIDGE_POOL": pool["pool"],
        "LANDBRIDGE_NODE": os.uname().nodename,
        "LANDBRIDGE_REGION": pool["region"],
        "LANDBRIDGE_EVENT": event,
    }
    with log.open("ab") as output:
        try:
            process = subprocess.Popen(
                [str(path), *script["arguments"]],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd="/",
                env=variables,
                start_new_session=True,
            )
        except OSError as error:
            raise Failed(f"{name}: cannot be run: {error.strerror}; its first line names an interpreter (#!)") from None
        try:
            status = process.wait(script["timeout"])
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise Failed(f"{name}: not ended after {script['timeout']} s", log) from None
    if status:
        ending = f"exit status {status}" if status > 0 else f"signal {-status}"
        raise Failed(f"{name}: {ending}", log)


def write(path, content, mode):
    """Replace a file; it has its mode before it has its content."""
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)


def log_end(log):
    """Return the end of a log as text without control characters."""
    content = log.read_bytes()[-LOG_END:].decode(errors="replace")
    return "".join(letter for letter in content if letter.isprintable() or letter in "\n\t").strip()
