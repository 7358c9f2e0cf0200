"""Objects of the bucket of a class, read with the AWS credentials of a job."""

import hashlib
import hmac
import http.client
import json
import os
import re
import threading
import time
import urllib.parse
import urllib.request

from dataset_cache.dataset import MANIFEST, NotCached, read

#: Keys of a staged dataset in the bucket of its class (landbridge.datasets.keys), and the lines of slurm.conf with the buckets.
FILES, MANIFESTS = "datasets/files/", "datasets/manifests/"
BUCKETS = re.compile(r"^# landbridge-checkpoints (\S+) s3://([^/\s]+)/", re.MULTILINE)
ATTEMPTS = 4
#: SHA-256 of an empty body.
EMPTY = hashlib.sha256(b"").hexdigest()


class BucketFiles:
    """Objects of a dataset in the bucket of its class, read with the credentials of the caller's job: IAM decides."""

    def __init__(self, url, region, reference, credentials):
        self._url, self._region, self._credentials = urllib.parse.urlsplit(url), region, credentials
        name, version = reference
        self._files, self._manifest = f"{FILES}{name}/{version}/", f"{MANIFESTS}{name}/{version}.json"
        self._local = threading.local()

    def open(self, path):
        """Return an object for reading. Raises NotCached."""
        key, reason = self._manifest if path == MANIFEST else self._files + path, ""
        for attempt in range(ATTEMPTS):
            try:
                answer = self._get(key)
            except (OSError, http.client.HTTPException) as error:
                reason = str(error) or type(error).__name__
                self.close()
                continue
            if answer.status == 200:
                return answer
            code = re.search(r"<Code>(\w+)</Code>", answer.read(1 << 16).decode("utf-8", "replace"))
            reason = f"{answer.status} {code[1] if code else answer.reason}"
            self.close()
            if answer.status < 500:
                break
            time.sleep(0.2 * 2**attempt)
        raise NotCached(f"{path}: {reason}")

    def close(self):
        """Close this thread's connection."""
        connection = getattr(self._local, "connection", None)
        self._local.connection = None
        if connection is not None:
            connection.close()

    def _get(self, key):
        path = urllib.parse.quote(f"{self._url.path.rstrip('/')}/{key}", safe="/~")
        if getattr(self._local, "connection", None) is None:
            plain = self._url.scheme == "http"
            kind = http.client.HTTPConnection if plain else http.client.HTTPSConnection
            self._local.connection = kind(self._url.netloc, timeout=60)
        connection = self._local.connection
        connection.request("GET", path, headers=signed(self._url.netloc, path, self._region, self._credentials))
        return connection.getresponse()


def signed(host, path, region, credentials):
    """Return the headers of a GET with Signature Version 4.

    Source: Amazon S3 API Reference, "Authenticating requests: using the Authorization header".
    """
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    key, secret, token = credentials
    headers = {"host": host, "x-amz-content-sha256": EMPTY, "x-amz-date": moment}
    if token:
        headers["x-amz-security-token"] = token
    names = ";".join(sorted(headers))
    lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
    request = f"GET\n{path}\n\n{lines}\n{names}\n{EMPTY}"
    scope = f"{moment[:8]}/{region}/s3/aws4_request"
    text = f"AWS4-HMAC-SHA256\n{moment}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
    secret = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        secret = hmac.digest(secret, part.encode(), "sha256")
    signature = hmac.digest(secret, text.encode(), "sha256").hex()
    headers["authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={key}/{scope}, SignedHeaders={names}, Signature={signature}"
    )
    return headers


def bucket_url(buckets, data_class):
    """Return the URL of the bucket of a class, which slurm.conf names. Raises NotCached."""
    names = dict(BUCKETS.findall(read(buckets["slurm_conf"])))
    if data_class not in names:
        raise NotCached(f"slurm.conf has no bucket of class {data_class}")
    return buckets["url"].replace("BUCKET", names[data_class])


def job_credentials():
    """Return the AWS credentials of the job from its endpoint on this node; none without one."""
    url = os.environ.get("AWS_CONTAINER_CREDENTIALS_FULL_URI", "")
    if urllib.parse.urlsplit(url).hostname not in ("127.0.0.1", "localhost"):
        return None
    request = urllib.request.Request(
        url, headers={"Authorization": os.environ.get("AWS_CONTAINER_AUTHORIZATION_TOKEN", "")}
    )
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
        content = json.load(answer)
    return [content["AccessKeyId"], content["SecretAccessKey"], content["Token"]]
