"""Resource types of compute: launch templates, instances, Image Builder, Lambda, SageMaker."""
