"""Resource options for components in another region than the provider's."""

import pulumi

#: Prefixes of global resource types.
_GLOBAL = ("aws:iam/",)


def in_region(region: str, opts: pulumi.ResourceOptions | None = None) -> pulumi.ResourceOptions:
    """Return options that create a component and its resources in `region`; IAM roles have no region.

    The provider accepts a region for each resource, so one provider is enough for all regions.
    """

    def set_region(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult | None:
        if not args.type_.startswith("aws:") or args.type_.startswith(_GLOBAL):
            return None
        return pulumi.ResourceTransformationResult(props={**args.props, "region": region}, opts=args.opts)

    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(transformations=[set_region]))
