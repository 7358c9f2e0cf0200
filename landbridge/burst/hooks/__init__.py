"""Programs that Slurm calls: ResumeProgram, SuspendProgram, ResumeFailProgram and PrologSlurmctld."""
