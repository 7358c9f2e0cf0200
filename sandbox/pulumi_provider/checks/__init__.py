"""Checks of a resource's inputs before it is created: the SDK's types, botocore's models, CloudFormation's schemas, AWS's rules."""
