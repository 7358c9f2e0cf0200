"""Descriptions of text formats: a message shows an example instead of a regular expression."""

#: By pattern of the models. A test reports missing ones.
FORMS: dict[str, str] = {
    r"^[ -~]{1,100}$": "text of 100 ASCII characters at most, with * for any characters, such as train-*",
    r"^[^\x00-\x1f]*$": "text on one line",
    r"^[a-z_][a-z0-9_.-]{0,31}$": "a Unix name, such as vision or j.doe: small letters, digits, _ . -",
    r"^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$": "a short name, such as p5 or big-data: small letters, digits, dashes; 32 at most",
    r"^\d{12}$": 'an account number of 12 digits, in quotes: "123456789012"',
    r"^(newest|\d\d\.\d\d\.\d+)$": "a release of Slurm, such as 26.05.5, or newest",
    r"^[0-9a-f]{64}$": "a SHA-256 checksum, such as 1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f",
    r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$": "a bucket's name, such as acme-packages",
    r"^(~/|/)[^\x00-\x1f]*$": "a path outside the checkout, such as ~/.config/landbridge/acme-password",
    r"^[A-Za-z0-9_][A-Za-z0-9._/-]*\.yaml$": "a relative path of a YAML file, such as secrets.acme.yaml",
    r"^(awskms|azurekeyvault|gcpkms|hashivault)://[^\s]+$": "a secrets provider of Pulumi, such as awskms://alias/state?region=us-east-1",
    r"^(local|(s3|gs|azblob|https)://[^\s]+)$": "local, or a backend of Pulumi such as s3://bucket?region=us-east-1",
    r"^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:(key|alias)/[A-Za-z0-9/_-]+$": (
        "a KMS key's ARN, such as arn:aws:kms:us-east-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
    ),
    r"^ml\.[a-z0-9-]+\.[a-z0-9]+$": "an instance type of SageMaker, such as ml.p5.48xlarge",
    r"^cr-[0-9a-f]{8,17}$": "a reservation's id, such as cr-0123456789abcdef0",
    r"^[a-z]{3,5}[0-9]-az[0-9]+$": "a zone's id, such as use1-az4 (its name, us-east-1a, is another zone in every account)",
    r"^/[A-Za-z0-9._/-]*$": "an absolute path, such as /scratch",
    r"^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/\S*)?$": "a bucket, such as s3://bucket/prefix",
    r"^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/[A-Za-z0-9!_.'()/=+@-]{1,900}$": (
        "an object of S3, such as s3://acme-scripts/nodes/setup.sh"
    ),
    r"^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key/[A-Za-z0-9-]+$": (
        "a KMS key's ARN (no alias), such as arn:aws:kms:us-east-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
    ),
    r"^[A-Za-z0-9](-?[A-Za-z0-9]){0,56}$": "a model's name, such as digits: letters, digits and single dashes; 57 at most",
    r"^https://aps-workspaces(-fips)?\.[a-z0-9-]+\.amazonaws\.com(\.cn)?/workspaces/ws-[a-z0-9-]+/api/v1/remote_write$": (
        "the remote write URL of a workspace, such as "
        "https://aps-workspaces.us-east-1.amazonaws.com/workspaces/ws-0123abcd/api/v1/remote_write"
    ),
    r"^[1-9a-f][0-9a-f]{0,39}$": 'a serial number in small hexadecimal digits, in quotes: "5f3a90c1"',
    r"^dx(con|lag)-[a-z0-9]{8}$": "a connection's id, such as dxcon-ffabc123",
    r"^https?://[^\s/]+(/\S*)?$": "an address such as https://proxy.example.org:3142",
    r"^subnet-[0-9a-f]{8,17}$": "a subnet's id, such as subnet-0123456789abcdef0",
    r"^vpc-[0-9a-f]{8,17}$": "a VPC's id, such as vpc-0123456789abcdef0",
    r"^rtb-[0-9a-f]{8,17}$": "a route table's id, such as rtb-0123456789abcdef0",
    r"^sg-[0-9a-f]{8,17}$": "a security group's id, such as sg-0123456789abcdef0 (not its name)",
    r"^fs-[0-9a-f]{8,17}$": "a file system's id, such as fs-0123456789abcdef0",
    r"^svm-[0-9a-f]{17}$": "a storage virtual machine's id, such as svm-0123456789abcdef0",
    r"^fsap-[0-9a-f]{8,17}$": "an EFS access point's id, such as fsap-0123456789abcdef0",
    r"^[A-Za-z0-9_-]{1,8}$": "a mount name of FSx for Lustre, such as fsx or abcdefgh",
    r"^[a-z0-9.-]+$": "a host's name, such as filer.example.org",
    r"^[a-z][a-z0-9_.-]{0,14}$": "the name of a network interface, such as bond0",
    r"^[A-Za-z0-9/][A-Za-z0-9._@/-]{0,99}$": "a number of an Xid, a service or a path, such as nfs-client.target",
    r"^[a-z0-9=,_.:-]*$": "mount options without spaces, such as vers=4.2,hard",
    r"^[0-9A-Za-z.,:@_-]+:/[A-Za-z0-9._/-]+$": "a Lustre file system, such as 10.0.0.1@o2ib:10.0.0.2@o2ib:/fs",
    r"^[A-Za-z0-9(),_.-]*$": "networks of LNet, such as o2ib(ib0)",
    r"^[1-7]:([01]\d|2[0-3]):[0-5]\d$": "a weekly time, such as 7:03:00 for Sunday at three (1 is Monday, UTC)",
    r"^/([\w.@+=,-]+/)*$": "a path that begins and ends with a slash, such as /teams/ml/",
    r"^arn:aws[a-z-]*:iam::(\d{12}|aws):policy/[\w+=,.@/-]+$": "a policy's ARN, such as arn:aws:iam::123456789012:policy/boundary",
    r"^/[A-Za-z0-9_./-]+$": "a parameter's name, such as /aws/service/neuron/dlami/multi-framework/ubuntu-24.04/latest/image_id",
    r"^cron\(\S+ \S+ \S+ \S+ \S+( \S+)?\)$": "a schedule in UTC, such as cron(0 3 ? * sun *)",
    r"^\d{1,5}(-\d{1,5})?$": 'a port or a range of ports, in quotes: "443" or "8000-8100"',
    r"^\d+\.\d+\.\d+$": "a version of three numbers, such as 1.20.1",
    r"^[a-z0-9.-]{1,200}$": "a DNS suffix, such as gpu.example.org",
    r"^(\d+|\d+-\d+|(\d+-)?\d+:\d\d(:\d\d)?|INFINITE|UNLIMITED)$": "a time as Slurm writes it: 90 (minutes), 4:00:00, 2-12:00:00",
    r"^(ami-[0-9a-f]{8,17}|[a-z]([a-z0-9-]{0,30}[a-z0-9])?)$": "an image's id, such as ami-0123456789abcdef0, or a name of aws.images",
    r"^arn:aws[a-z-]*:resource-groups:[a-z0-9-]+:\d{12}:group/.+$": (
        "a resource group's ARN, such as arn:aws:resource-groups:us-east-1:123456789012:group/name"
    ),
    r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$": "a host's short name, such as ctl01",
    r"^(fs|kernel|net|user|vm)(\.[A-Za-z0-9_/-]+)+$": "a key of sysctl, such as vm.swappiness",
    r"^ldaps?://[a-z0-9.-]+(:\d{1,5})?$": "a directory's address, such as ldaps://ldap.example.org",
    r"^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?$": "a group of hosts, such as slurm_node, or a host's short name",
    r"^[a-z0-9]+(-[a-z0-9]+)*$": "a rule's name, such as spot-alone",
    r"^[a-z][a-z0-9-]{0,23}$": "a name of 24 small letters, digits and dashes at most (it is the file's: Pulumi.<name>.yaml)",
    r"^[A-Za-z][A-Za-z0-9_]*$": "a key of slurm.conf, such as MaxJobCount",
    r"^[a-z]{2,3}(-[a-z]+)+-\d$": "a region, such as eu-central-1",
    r"^[^@\s]+@[^@\s]+\.[^@\s]+$": "a mail address, such as ml-platform@example.org",
    r"^db\.[a-z0-9]+\.[a-z0-9]+$": "a class of RDS, such as db.t4g.medium",
    r"^\d+\.\d+$": 'a version of two numbers, in quotes: "11.4"',
    r"^(ssh|ecdsa|sk)-\S+ [A-Za-z0-9+/=]+( [ -~]*)?$": "a public key, such as ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 alice; ssh-keygen writes it into a file *.pub",
    r"^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,62}$": "a domain of two labels or more, such as gpu.example.org",
    r"^(\d+:)?\d+(\.\d+)+(-\d+)?$": "a package's version as apt shows it, such as 1:4.5.1-1",
    r"^[a-z][a-z0-9_]{1,15}$": "a device's name, such as mlx5_0",
    r"^[1-7]g\.\d{1,3}gb$": "a MIG profile as nvidia-smi shows it, such as 1g.10gb",
    r"^\d{1,2}(-\d{1,2})?(,\d{1,2}(-\d{1,2})?)*$": 'numbers of GPUs, in quotes: "0-3" or "0,2"',
    r"^[a-z0-9.-]+(:\d{1,5})?(/[a-z0-9._/-]+)?$": "a registry, such as nvcr.io or cache01:5000/nvcr",
    r"^[a-z0-9.-]+(:\d{1,5})?(/[a-z0-9._-]+)+@sha256:[0-9a-f]{64}$": (
        "an image by its digest, without a tag, such as nvcr.io/nvidia/pytorch@sha256:1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f"
    ),
    r"^\d{3}\.\d+(\.\d+)?$": 'a release of NVIDIA\'s driver, in quotes: "580.95.05"',
    r"^\d{3}$": 'a branch of NVIDIA\'s driver, in quotes: "580"',
    r"^L-[0-9A-F]{8}$": "a quota's code, such as L-417A185B",
    r"^[^@\s]+@[a-z0-9.-]+$": "an e-mail address, such as oncall@example.org",
    r"^[a-z0-9.-]+:[0-9]{1,5}$": "a host name and a port, such as mail.example.org:25",
    r"^[A-Z][A-Za-z0-9]{2,60}$": "a name of letters and digits that begins with a capital, such as ScratchFilling",
    r"^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate/[A-Za-z0-9-]+$": (
        "a certificate's ARN, such as arn:aws:acm:us-east-1:123456789012:certificate/1234abcd-12ab-34cd-56ef-1234567890ab"
    ),
    r"^arn:aws[a-z-]*:acm-pca:[a-z0-9-]+:\d{12}:certificate-authority/[A-Za-z0-9-]+$": (
        "a private CA's ARN, such as "
        "arn:aws:acm-pca:us-east-1:123456789012:certificate-authority/1234abcd-12ab-34cd-56ef-1234567890ab"
    ),
    r"^(sftp:[a-z0-9._-]+@[a-z0-9.-]+:|rest:https://[a-z0-9.:-]+|)/[A-Za-z0-9._/-]+$": (
        "a repository of restic, such as sftp:copies@vault.example.org:/srv/homes, rest:https://vault01:8000/homes or /mnt/vault/homes"
    ),
    r"^https?://\S+$": "a URL, such as https://wiki.example.org/scratch",
}


def in_words(pattern: str) -> str | None:
    """Return the description of a pattern; None if there is none."""
    return FORMS.get(pattern)
