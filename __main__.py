"""Entry point of the component package: Pulumi runs it when another program uses a component of this repository."""

from pulumi.provider.experimental import component_provider_host

from components import multilang

if __name__ == "__main__":
    component_provider_host(list(multilang.classes().values()), "landbridge", version="0.2.0")
