"""Stand-ins for the programs of GPU hardware: `nvidia-smi`, `ibstat`, the kernel's log, Fabric Manager's unit.

They print data of the platform's catalogue entry, changed by a fault file. Only the lab installs them, never a role.
They are strict: an unknown option, field or fault is an error, as with the real tools.
"""
