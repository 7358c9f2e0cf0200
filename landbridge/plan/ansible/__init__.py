"""Plan of the Ansible inventory: groups, hosts and the variables of every role."""
