"""Powering AWS nodes up and down for Slurm.

What Slurm runs: shims, which write orders into the journal (journal, store), and prolog_wait. The daemon makes passes: it looks at
EC2 (ec2), Slurm (slurm) and the journal, decides (reconcile and what it imports: pure, over the values of model), writes
down what it intends, does it (execute), and writes down how it ended (absorb).
Nothing is imported here: the shims have to start fast.
"""
