"""Stand-ins for the programs of GPU hardware: `nvidia-smi`, `ibstat`, the kernel's log, Fabric Manager's unit.

They say what the platform's catalogue entry says, and what a fault file adds. The lab puts them on nodes, never a role.
They are strict: an option, a field or a fault that they do not know fails, as the real tools do with theirs.
"""
