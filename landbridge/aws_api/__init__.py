"""AWS API client: boto3 with short timeouts, cached calls, and one exception for failures."""
