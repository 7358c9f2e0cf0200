"""Storage beyond moto: FSx, EFS, RDS, and S3 bucket policies."""
