"""Checks of inputs before creation: the SDK's types, botocore's models, CloudFormation's schemas, AWS's rules."""
