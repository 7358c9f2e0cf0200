"""Stand-ins for the programs of GPU hardware: `nvidia-smi`, `ibstat`, the kernel's log, Fabric Manager's unit.

They print the data of the platform's catalogue entry, changed by a fault file. The lab puts them on nodes, never a role.
They are strict: an option, a field or a fault that they do not know fails, as the real tools do with theirs.
"""
