"""CrossGuard policy pack: `pulumi preview --policy-pack components/policy`. The policies are in landbridge/policy."""
