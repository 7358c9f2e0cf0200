"""Pure reconcile pass: observed Slurm, observed EC2, state and policy in; actions and the next state out."""
