"""What Pulumi runs when another program uses this repository as a package of components."""

from pulumi.provider.experimental import component_provider_host

from components.package import DataHub, GpuPool, Network, SiteLink

if __name__ == "__main__":
    component_provider_host([DataHub, GpuPool, Network, SiteLink], "landbridge", version="0.1.0")
