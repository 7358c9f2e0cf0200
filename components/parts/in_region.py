"""Options of components in a region that is not the provider's."""

import pulumi

#: Prefixes of global resource types.
_EVERYWHERE = ("aws:iam/",)


def in_region(region: str, opts: pulumi.ResourceOptions | None = None) -> pulumi.ResourceOptions:
    """Return options that make a component and its resources in `region`; IAM roles have no region.

    The provider accepts a region for each resource, so one provider is enough for all regions.
    """

    def place(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult | None:
        if not args.type_.startswith("aws:") or args.type_.startswith(_EVERYWHERE):
            return None
        return pulumi.ResourceTransformationResult(props={**args.props, "region": region}, opts=args.opts)

    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(transformations=[place]))
