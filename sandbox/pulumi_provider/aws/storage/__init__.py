"""Resource types of storage: S3, EBS, EFS, FSx, RDS."""
