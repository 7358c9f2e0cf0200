"""AWS API client: boto3 with short timeouts, each call once, and refusals as one exception."""
