"""Commands about the stacks of an environment and their resources in AWS: `up`, `preview`, `impact`, `lock` and others."""
