"""Plan of node images: the EC2 Image Builder recipe and the IAM policies of a build."""
