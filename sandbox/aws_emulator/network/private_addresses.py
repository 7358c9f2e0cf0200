"""Private IP addresses as EC2 assigns them: not the first four and the last of a subnet, none in use, in rotation."""

from collections.abc import Collection
from ipaddress import IPv4Address, IPv4Network

from sandbox.aws_emulator.server.errors import CloudError


class AddressBook:
    """Address assignment. A released address is reused as late as possible: ARP caches may still have its old owner."""

    def __init__(self, reserved: Collection[str] = ()) -> None:
        self.reserved = {IPv4Address(address) for address in reserved}
        self._last: dict[IPv4Network, int] = {}

    def free(self, subnet: IPv4Network, used: Collection[str]) -> int:
        """Return the number of free addresses."""
        reserved = {address for address in self.reserved if self._usable(subnet, address)}
        unavailable = {IPv4Address(address) for address in used} | reserved
        return subnet.num_addresses - 5 - len({address for address in unavailable if self._usable(subnet, address)})

    def choose(self, subnet: IPv4Network, used: Collection[str]) -> str:
        """Return the next free address of `subnet`; raise InsufficientFreeAddressesInSubnet if all are in use."""
        first, count = int(subnet.network_address) + 4, subnet.num_addresses - 5
        start = self._last.get(subnet, -1) + 1
        for step in range(count):
            offset = (start + step) % count
            address = IPv4Address(first + offset)
            if str(address) not in used and address not in self.reserved:
                self._last[subnet] = offset
                return str(address)
        raise CloudError(
            "InsufficientFreeAddressesInSubnet", f"There are not enough free addresses in subnet {subnet}."
        )

    def forget(self) -> None:
        """Start the assignment again at the first address of every subnet."""
        self._last.clear()

    @staticmethod
    def _usable(subnet: IPv4Network, address: IPv4Address) -> bool:
        return int(subnet.network_address) + 4 <= int(address) < int(subnet.broadcast_address)
