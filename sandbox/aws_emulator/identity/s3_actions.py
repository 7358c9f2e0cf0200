"""IAM permissions that requests of S3 need.

Source: Amazon S3 User Guide, "Required permissions for Amazon S3 API operations", 2026-11-25; condition keys: Service Authorization
Reference, "Condition keys for Amazon S3", 2026-11-27.
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, unquote

Environ = dict[str, Any]
#: Permission by method and the subresource in the query; None is a request without one of them.
_OBJECT: dict[str, dict[str | None, str]] = {
    "GET": {
        None: "GetObject",
        "tagging": "GetObjectTagging",
        "uploadId": "ListMultipartUploadParts",
        "acl": "GetObjectAcl",
    },
    "HEAD": {None: "GetObject"},
    "PUT": {None: "PutObject", "tagging": "PutObjectTagging", "acl": "PutObjectAcl", "retention": "PutObjectRetention"},
    "POST": {None: "PutObject", "restore": "RestoreObject"},
    "DELETE": {None: "DeleteObject", "tagging": "DeleteObjectTagging", "uploadId": "AbortMultipartUpload"},
}
_BUCKET: dict[str, dict[str | None, str]] = {
    "GET": {
        None: "ListBucket",
        "location": "GetBucketLocation",
        "policy": "GetBucketPolicy",
        "uploads": "ListBucketMultipartUploads",
        "versions": "ListBucketVersions",
        "versioning": "GetBucketVersioning",
        "tagging": "GetBucketTagging",
        "lifecycle": "GetLifecycleConfiguration",
    },
    "HEAD": {None: "ListBucket"},
    "PUT": {None: "CreateBucket", "policy": "PutBucketPolicy", "versioning": "PutBucketVersioning"},
    "DELETE": {None: "DeleteBucket", "policy": "DeleteBucketPolicy"},
}
_VERSIONED = {"GetObject": "GetObjectVersion", "DeleteObject": "DeleteObjectVersion"}


def permissions(environ: Environ) -> Iterator[tuple[str, str, str | None]]:
    """Yield action, bucket and key of each permission that a request needs; the key is None for the bucket itself."""
    bucket, _, key = unquote(environ.get("PATH_INFO", "")).lstrip("/").partition("/")
    method, query = environ["REQUEST_METHOD"], _query(environ)
    if not bucket:
        yield "ListAllMyBuckets", "", None
    elif not key and method == "POST" and "delete" in query:
        yield "DeleteObject", bucket, "*"
    elif not key:
        yield _named(_BUCKET, method, query), bucket, None
    else:
        action = _named(_OBJECT, method, query)
        yield _VERSIONED.get(action, action) if "versionId" in query else action, bucket, key
        source = unquote(environ.get("HTTP_X_AMZ_COPY_SOURCE", "")).lstrip("/").partition("?")[0]
        if source:
            source_bucket, _, source_key = source.partition("/")
            yield "GetObject", source_bucket, source_key


def key_use(action: str, environ: Environ) -> str | None:
    """Return the permission on a bucket's KMS key that a request needs; None if it needs none.

    CreateMultipartUpload needs kms:GenerateDataKey; UploadPart and CompleteMultipartUpload need kms:Decrypt. Source: Amazon S3 API Reference,
    CreateMultipartUpload, UploadPart and CompleteMultipartUpload, "Permissions" (2026-11-27).
    """
    if action == "PutObject" and "uploadId" in _query(environ):
        return "kms:Decrypt"
    return {"GetObject": "kms:Decrypt", "PutObject": "kms:GenerateDataKey"}.get(action)


def context(environ: Environ) -> dict[str, str]:
    """Return the condition keys of a request. Loopback and the lab's bridges count as TLS here."""
    headers = {
        f"s3:{name[5:].lower().replace('_', '-')}": str(value)
        for name, value in environ.items()
        if name.startswith("HTTP_X_AMZ_")
    }
    known = {
        "s3:if-none-match": environ.get("HTTP_IF_NONE_MATCH"),
        "s3:prefix": _query(environ).get("prefix", [None])[0],
        "s3:ObjectCreationOperation": _creates_object(environ),
    }
    return {
        "aws:SecureTransport": "true",
        **headers,
        **{key: value for key, value in known.items() if value is not None},
    }


def _creates_object(environ: Environ) -> str | None:
    """Return the value of s3:ObjectCreationOperation, which requests with the action PutObject have.

    False: CreateMultipartUpload, UploadPart and UploadPartCopy. Source: Amazon S3 User Guide, "Enforce conditional writes on Amazon S3
    buckets" (2026-11-27).
    """
    method, query = environ["REQUEST_METHOD"], _query(environ)
    table = _OBJECT if unquote(environ.get("PATH_INFO", "")).lstrip("/").partition("/")[2] else {}
    if method not in ("PUT", "POST") or _named(table, method, query) != "PutObject":
        return None
    return "false" if "uploads" in query or "partNumber" in query else "true"


def _query(environ: Environ) -> dict[str, list[str]]:
    return parse_qs(environ.get("QUERY_STRING", ""), keep_blank_values=True)


def default_key(bucket: Any) -> str | None:
    """Return the ARN of the KMS key of a bucket's default encryption, or None."""
    rule = ((bucket.encryption if bucket is not None else None) or {}).get("Rule", {})
    rule = rule[0] if isinstance(rule, list) else rule
    key = rule.get("ApplyServerSideEncryptionByDefault", {}).get("KMSMasterKeyID")
    return str(key) if key and str(key).startswith("arn:") else None


def _named(table: dict[str, dict[str | None, str]], method: str, query: dict[str, list[str]]) -> str:
    """Return the action; an unknown subresource has the name of the subresource, which no policy permits."""
    actions = table.get(method, {})
    action = next((actions[name] for name in actions if name in query), None)
    return action or actions.get(None, method)
