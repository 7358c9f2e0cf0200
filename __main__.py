"""Entry point of the multi-language package: Pulumi runs it when another program uses the components."""

from pulumi.provider.experimental import component_provider_host

from components import package

if __name__ == "__main__":
    component_provider_host([getattr(package, name) for name in package.__all__], "landbridge", version="0.1.0")
