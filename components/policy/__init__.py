"""The CrossGuard pack: `pulumi preview --policy-pack components/policy`. The policies themselves are in landbridge/policy."""
