"""Checksums and sizes of S3 uploads. moto 5.2 stores an upload whose body does not match its checksum, or is too large; S3 refuses it.

Sources: Amazon S3 API Reference, PutObject, UploadPart and error codes BadDigest and InvalidDigest, 2026-11-26, and EntityTooLarge,
2026-11-27; Amazon S3 User Guide, "Amazon S3 multipart upload limits" (a part) and "Uploading objects" (one PutObject), 2026-11-27.
"""

import base64
import binascii
import hashlib
import io
from collections.abc import Callable, Mapping
from typing import Any

from sandbox.aws_emulator.server.errors import CloudError

Environ = dict[str, Any]
_PREFIX = "HTTP_X_AMZ_CHECKSUM_"
#: The second source says 5 GB of a PutObject, which S3 counts as 5 GiB.
LARGEST_BODY = 5 * 2**30
#: CRC32C and CRC64NVME are not in Python's library: their values are not compared.
_DIGESTS: Mapping[str, Callable[[bytes], bytes]] = {
    "SHA256": lambda body: hashlib.sha256(body).digest(),
    "SHA1": lambda body: hashlib.sha1(body).digest(),
    "CRC32": lambda body: binascii.crc32(body).to_bytes(4, "big"),
}


def check_upload(environ: Environ) -> None:
    """Refuse an upload that is too large, or whose body does not match a checksum header, and let moto store the checksum.

    A body in chunks with a trailing checksum is not compared.
    """
    length = int(environ.get("HTTP_X_AMZ_DECODED_CONTENT_LENGTH") or environ.get("CONTENT_LENGTH") or 0)
    if environ["REQUEST_METHOD"] == "PUT" and length > LARGEST_BODY:
        raise CloudError("EntityTooLarge", "Your proposed upload exceeds the maximum allowed object size.")
    if environ["REQUEST_METHOD"] != "PUT" or "aws-chunked" in environ.get("HTTP_CONTENT_ENCODING", ""):
        return
    given = {name: environ[_PREFIX + name] for name in _DIGESTS if _PREFIX + name in environ}
    md5 = environ.get("HTTP_CONTENT_MD5")
    if not given and md5 is None:
        return
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    environ["wsgi.input"] = io.BytesIO(body)
    for name, text in given.items():
        if _decoded(text) != _DIGESTS[name](body):
            raise CloudError("BadDigest", f"The {name} you specified did not match the calculated checksum.")
        # moto stores only the checksum of the algorithm that this header names; SDKs leave it out beside a value.
        environ.setdefault("HTTP_X_AMZ_SDK_CHECKSUM_ALGORITHM", name)
    if md5 is not None and _decoded(md5) != hashlib.md5(body).digest():
        raise CloudError("BadDigest", "The Content-MD5 you specified did not match what we received.")


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise CloudError("InvalidDigest", "The checksum you specified is not valid.") from error


__all__ = ["check_upload"]
