"""Storage services: FSx, EFS, RDS, and S3 bucket policies, where moto's behaviour differs from AWS."""
