"""Components in a region that is not the provider's own."""

import pulumi

#: What is in no region.
_EVERYWHERE = ("aws:iam/",)


def in_region(region: str, opts: pulumi.ResourceOptions | None = None) -> pulumi.ResourceOptions:
    """Options with which a component, and everything in it, is made in `region`; roles and the like are in none.

    The provider takes the region with each resource, so that one provider does for all of them.
    """

    def place(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult | None:
        if not args.type_.startswith("aws:") or args.type_.startswith(_EVERYWHERE):
            return None
        return pulumi.ResourceTransformationResult(props={**args.props, "region": region}, opts=args.opts)

    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(transformations=[place]))
