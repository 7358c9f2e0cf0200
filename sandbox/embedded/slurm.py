"""A small Slurm for machines where the real one cannot run: it queues jobs, powers nodes up and down through the *real*
burst programs, and runs job scripts as local processes, one for each node.

    from sandbox.embedded.slurm import Node, SimulatedSlurm

    nodes = [*Node.many("dgx[01-02]", gpus=8), *Node.many("p5-[1-4]", gpus=8, cloud=True, weight=1000)]
    with SimulatedSlurm(directory, nodes, burst_config=burst_json, suspend_time=5) as slurm:
        job = slurm.submit(nodes=2, script=Path("train.sh"), name="digits", account="vision", environment={...})
        job.wait(timeout=120)             # TimeoutError; the job goes on
        job.state                         # PENDING CONFIGURING RUNNING COMPLETED FAILED CANCELLED NODE_FAIL
        job.nodes                         # ("p5-1", "p5-2"): where it ran last
        job.output(rank=0)                # what the step on its first node printed
        slurm.wait_idle(timeout=60)       # until every cloud node is powered down again
        slurm.node("p5-1").state          # IDLE ALLOCATED DOWN, with .flags such as CLOUD POWERED_DOWN POWERING_UP

What is real: landbridge.burst.shims are run as Slurm runs them (node list as last argument, SLURM_RESUME_FILE naming a
JSON file that exists only while the program runs, a bare environment), `scontrol` and `squeue` on their PATH answer in
the real ones' JSON. A cloud node is up when its instance says so: start the emulated AWS with `--launcher process
--process-command "<python> -m sandbox.embedded.node <directory>/slurm.sock"`; that program finds its node's name in its
instance's tags, through the metadata service, and registers.

What is not: no memory, cores, priorities, fairness, limits or security; a job has whole nodes. `script` is a file or
text; it is run once for each node (as `srun` would), from the directory `workdir`, with SLURM_JOB_ID, SLURM_JOB_NAME,
SLURM_JOB_ACCOUNT, SLURM_JOB_NODELIST, SLURM_JOB_NUM_NODES, SLURM_NNODES, SLURM_NTASKS, SLURM_PROCID, SLURM_NODEID, SLURM_LOCALID, SLURMD_NODENAME,
SLURM_RESTART_COUNT, LANDBRIDGE_COORDINATOR (127.0.0.1 and a free port, the same for all ranks) and `environment`.
A job that asks for a partition gets only that partition's nodes: `gpu` (the default) has all, `onprem` those that are
not cloud nodes, and each pool's prefix (`p5`) its own. On-prem nodes (low weight) are used first, and no job is spread over both sites.
"""
