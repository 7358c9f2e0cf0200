"""Environment keys of the AWS half."""
