"""Settings of an organisation: the configuration of the policy pack."""

from pydantic import BaseModel, ConfigDict, Field


class PolicySettings(BaseModel):
    """Every default is the strict one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    required_tags: tuple[str, ...] = Field(
        ("landbridge:cluster", "landbridge:owner", "landbridge:cost-center"), description="Tags that everything has."
    )
    protect: bool = Field(True, description="What holds data is protected, or kept when it is removed.")
    regions: tuple[str, ...] = Field((), description="Where anything may be; empty: anywhere.")
    world_ports: tuple[int, ...] = Field((), description="Ports that the whole internet may reach.")
    hop_limit: int = Field(2, description="How far the metadata service may answer: 1 for hosts, 2 where pods need it.")
    instance_types: tuple[str, ...] = Field((), description="Types that may be started; empty: any.")
    group_rules: int = Field(60, description="Rules of a security group each way: the account's quota L-0EA8095F.")
    least_dh_group: int = Field(
        19, description="The weakest Diffie-Hellman group of a tunnel; 14 where strongSwan has no kernel to encrypt in."
    )
