"""Read-through cache of staged datasets on a node's own disk.

    landbridge-data path NAME:VERSION    print the folder with the files; a job calls it once on each node
    landbridge-data list                 print the cached datasets
    landbridge-data serve                service landbridge-dataset-cache

The service copies a dataset from the site's file system to ROOT/CLASS/DIGEST, once for all jobs of the node, and compares the
SHA-256 of each file with the manifest. The folder appears by one rename. Files are opened with the rights of the calling user,
and the folder of a class is readable for its group only: the cache gives no access that the site's file system does not give.
On a node in AWS the source is the bucket of the class, read with the credentials of the caller's job, and each job has hard
links to the copies in a folder of its user. Least recently used datasets are removed under the size limit, never one that a
running job uses: a job is running as long as its control group exists. If anything fails, the program prints the site's folder.
Python 3.9 or later, standard library only.
"""

import json
import os
import socket
import sys
import time

from dataset_cache.bucket import FILES, job_credentials
from dataset_cache.dataset import CACHED, DIGEST, REFERENCE, read

SETTINGS = os.environ.get("LANDBRIDGE_DATASET_CACHE", "/etc/landbridge/dataset-cache.json")


def site_folder(settings, data_class, name, version):
    """Return the folder from which a dataset is read without the cache; in AWS the folder of a mounted bucket, if there
    is one.
    """
    buckets = settings.get("buckets")
    if buckets is None:
        return os.path.join(settings["source"], data_class, name, version)
    return os.path.join(buckets["mounts"].get(data_class, "/nonexistent"), f"{FILES}{name}", version)


def main(words):
    """Run a command; return the exit code."""
    with open(SETTINGS, encoding="utf-8") as stream:
        settings = json.load(stream)
    if "pool" in settings:
        scratch = (json.loads(read(settings["pool"]) or "{}")).get("scratch")
        if not scratch:
            print("this node has no disk of its own: nothing is cached", file=sys.stderr)
            return 0 if words == ["serve"] else 1
        if words == ["serve"] and not os.path.ismount(scratch):
            print(f"{scratch} is not mounted", file=sys.stderr)
            return 1
        settings["root"] = os.path.join(scratch, "datasets")
    if words == ["serve"]:
        from dataset_cache.service import serve

        serve(settings)
    if words == ["list"]:
        for data_class in settings["classes"]:
            folder = os.path.join(settings["root"], data_class)
            # Before the first start of the service there is no folder.
            for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
                if DIGEST.fullmatch(name):
                    with open(os.path.join(folder, name, CACHED), encoding="utf-8") as stream:
                        words = json.load(stream)
                    used = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(os.stat(stream.name).st_mtime))
                    print(f"{data_class} {words['dataset']} {words['bytes']:,} bytes, used {used}")
        return 0
    if len(words) != 2 or words[0] != "path" or not REFERENCE.fullmatch(words[1]):
        print(__doc__, file=sys.stderr)
        return 2
    data_class = os.environ.get("LANDBRIDGE_DATA_CLASS", "")
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(settings["socket"])
            request = {"dataset": words[1], "class": data_class}
            if settings.get("buckets") is not None:
                request["credentials"] = job_credentials()
            connection.sendall(json.dumps(request).encode() + b"\n")
            reply = json.loads(connection.makefile().readline() or '{"text": "the service has ended"}')
    except (OSError, ValueError, KeyError) as error:
        reply = {"text": str(error)}
    site = site_folder(settings, data_class, *words[1].split(":"))
    if "path" not in reply:
        print(f"landbridge-data: {words[1]} is read from the site: {reply.get('text')}", file=sys.stderr)
    path = reply.get("path", site)
    if not os.path.isdir(path):
        print(f"landbridge-data: {path} cannot be read", file=sys.stderr)
        return 1
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
