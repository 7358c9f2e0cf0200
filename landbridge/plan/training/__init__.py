"""Training jobs of SageMaker from the job files of Slurm: parsing, choice of the instance type, and the request."""
