"""Plan of where a job runs: sites and purchase options that its data, class and deadline permit, ranked by cost."""
