"""What Pulumi runs when another program uses this repository as a package of components."""

from pulumi.provider.experimental import component_provider_host

from components import package

if __name__ == "__main__":
    component_provider_host([getattr(package, name) for name in package.__all__], "landbridge", version="0.1.0")
