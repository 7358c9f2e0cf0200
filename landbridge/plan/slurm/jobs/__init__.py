"""Plan of jobs: accounts, classes of jobs and workloads, job_submit.lua, prolog and epilog."""
