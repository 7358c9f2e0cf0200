"""Configuration of the policy pack for an organisation."""

from pydantic import BaseModel, ConfigDict, Field


class PolicySettings(BaseModel):
    """Settings of the policies. Every default is the strictest value."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    required_tags: tuple[str, ...] = Field(
        ("landbridge:cluster", "landbridge:owner", "landbridge:cost-center"),
        description="Tags that every resource has.",
    )
    protect: bool = Field(True, description="Resources that hold data are protected, or retained on deletion.")
    regions: tuple[str, ...] = Field((), description="Permitted regions; empty: all.")
    world_ports: tuple[int, ...] = Field((), description="Ports that the whole internet may reach.")
    hop_limit: int = Field(2, description="Maximum hop limit of the metadata service: 1 for hosts, 2 if pods need it.")
    instance_types: tuple[str, ...] = Field((), description="Permitted instance types; empty: all.")
    group_rules: int = Field(
        60, description="Maximum number of rules of a security group in each direction: the account's quota L-0EA8095F."
    )
    least_dh_group: int = Field(
        19,
        description="Lowest permitted Diffie-Hellman group of a tunnel; 14 if strongSwan encrypts without the kernel.",
    )
