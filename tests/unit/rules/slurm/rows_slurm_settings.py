"""Mistakes with logs, tags, names, outages and secrets."""

from datetime import date

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

LOGS: DataPath = ("aws", "logs")
TAGS: DataPath = ("aws", "tags")
POOL_TAGS: DataPath = ("aws", "pools", 0, "tags")
WINDOWS: DataPath = ("maintenance",)
SCRATCH: DataPath = ("storage", "cloud_scratch")
HIPAA = {"health": {"sites": ["onprem", "aws"], "regime": "hipaa"}, "internal": {"sites": ["onprem", "aws"]}}
SECURE = {"landbridge:key": {"secure": "AAABAE"}}


def window(starts: str, ends: str) -> dict[str, str]:
    """Return one planned outage."""
    return {"starts": starts, "ends": ends}


JUNE = window("2027-06-01T06:00:00Z", "2027-06-01T18:00:00Z")

ROWS = [
    Row("log-retention", "31 days", {LOGS: {"retention_days": 31}}, (*LOGS, "retention_days"), "30 or 60"),
    Row("log-retention", "more than ten years", {LOGS: {"retention_days": 4000}}, (*LOGS, "retention_days"), "3653"),
    Row("audit-logs", "health data in AWS without a record of access", {("data_classes",): HIPAA}, (*LOGS, "flow_logs"), "flow_logs: true"),
    Row("audit-logs", "a record of access to health data for one month", {("data_classes",): HIPAA, LOGS: {"retention_days": 30, "flow_logs": True}}, (*LOGS, "retention_days"), "365"),
    Row("tag-reserved", "a tag that only AWS sets", {TAGS: {"aws:createdBy": "me"}}, (*TAGS, "aws:createdBy"), "only AWS"),
    Row("tag-reserved", "a tag by which the cluster finds its nodes", {POOL_TAGS: {"landbridge:owner": "me"}}, (*POOL_TAGS, "landbridge:owner"), "of the environment"),
    Row("tag-reserved", "one name for all resources", {TAGS: {"Name": "gpu"}}, (*TAGS, "Name"), "Landbridge"),
    Row("tag-form", "an owner with angle brackets", {("owner",): "ML <ml@example.org>"}, ("owner",), "<>"),
    Row("tag-form", "a value of 300 characters", {TAGS: {"note": "x" * 300}}, (*TAGS, "note"), "256"),
    Row("tag-form", "a key of 200 characters", {TAGS: {"x" * 200: "y"}}, (*TAGS, "x" * 200), "128"),
    Row("tag-form", "a tag with a comma", {TAGS: {"team": "vision, speech"}}, (*TAGS, "team"), '","'),
    Row("tag-form", "a tag key with a space", {TAGS: {"Cost Center": "1"}}, (*TAGS, "Cost Center"), '"Cost Center"'),
    Row("tag-form", "a tag key with a slash, of a pool", {POOL_TAGS: {"acme.org/team": "1"}}, (*POOL_TAGS, "acme.org/team"), '"acme.org/team"'),
    Row("tag-form", "a tag key with a letter outside ASCII", {TAGS: {"Kostenträger": "1"}}, (*TAGS, "Kostenträger"), '"Kostenträger"'),
    Row("tag-form", "a tag key that the metadata service reserves", {TAGS: {"_index": "1"}}, (*TAGS, "_index"), '"_index"'),
    Row("tag-count", "more tags than a resource takes", {TAGS: {f"tag{n}": "x" for n in range(45)}}, TAGS, "50"),
    Row("tag-count", "a pool's own tags are too many", {TAGS: {f"tag{n}": "x" for n in range(30)}, POOL_TAGS: {f"own{n}": "x" for n in range(15)}}, POOL_TAGS, "50"),
    Row("duplicate-tag", "one key in two spellings", {TAGS: {"CostCenter": "1", "costcenter": "2"}}, (*TAGS, "costcenter"), 'the tag keys "costcenter" and "CostCenter" differ'),
    Row("pool-name-taken", "a pool with the endpoints' name", {("aws", "pools", 0, "name"): "endpoints"}, ("aws", "pools", 0, "name"), "another name"),
    Row("bucket-name-long", "a class whose bucket name is shortened", {("data_classes", "clinical-records-of-institute"): {"sites": ["onprem", "aws"]}}, ("data_classes", "clinical-records-of-institute"), "50 characters", environment="research-production-one"),
    Row("bucket-name", "a bucket with a dot beside a dash", {SCRATCH: {"kind": "fsx_lustre", "repositories": [{"folder": "/data", "bucket": "s3://data.-set"}]}}, (*SCRATCH, "repositories", 0, "bucket"), "dot"),
    Row("bucket-name", "an address for a bucket", {SCRATCH: {"kind": "fsx_lustre", "deployment": "scratch_2", "import_path": "s3://10.20.30.40/data"}}, (*SCRATCH, "import_path"), "address"),
    Row("maintenance-window", "an outage that ends before it starts", {WINDOWS: [window("2027-06-02T06:00:00Z", "2027-06-01T06:00:00Z")]}, (*WINDOWS, 0, "ends"), "before"),
    Row("maintenance-window", "an outage without a time zone", {WINDOWS: [window("2027-06-01T06:00:00", "2027-06-01T18:00:00Z")]}, (*WINDOWS, 0, "starts"), "time zone"),
    Row("maintenance-window", "an outage of a month", {WINDOWS: [window("2027-06-01T06:00:00Z", "2027-07-01T18:00:00Z")]}, (*WINDOWS, 0, "ends"), "month"),
    Row("maintenance-overlap", "two outages at once", {WINDOWS: [JUNE, window("2027-06-01T12:00:00Z", "2027-06-02T12:00:00Z")]}, (*WINDOWS, 1), "the window overlaps window 0 of 2027-06-01T06:00:00+00:00"),
    Row("maintenance-expired", "an outage long past", {WINDOWS: [JUNE]}, (*WINDOWS, 0), "2027-06-01", today=date(2027, 8, 1)),
    Row("unused-secret", "a secret that nothing refers to", {}, (), "landbridge:key", beside=SECURE),
    Row("secret-in-clear", "an access key in a tag", {TAGS: {"key": "AKIAABCDEFGHIJKLMNOP"}}, (*TAGS, "key"), "revoke"),
    Row("secret-in-clear", "a password in a proxy's address", {("onprem", "packages"): {"apt_proxy": "http://me:secret@proxy.example.org:3128"}}, ("onprem", "packages", "apt_proxy"), "password"),
    Row("secret-in-clear", "the provider's key beside the environment", {}, (), "access key", beside={"aws:accessKey": "AKIAABCDEFGHIJKLMNOP"}),
]  # fmt: skip
