"""Facts of the catalogue compared with those of moto, botocore and cfn-lint."""

from tests.unit.catalog.peers.botocore import botocore_ranges, botocore_regions, botocore_words
from tests.unit.catalog.peers.botocore_texts import botocore_texts
from tests.unit.catalog.peers.cfn_lint import cfn_lint_offerings, cfn_lint_schemas, cfn_lint_services
from tests.unit.catalog.peers.cfn_lint_iam import cfn_lint_iam
from tests.unit.catalog.peers.compared import Compared
from tests.unit.catalog.peers.moto import moto_endpoints, moto_images, moto_places, moto_types

PEERS = (
    moto_types,
    moto_places,
    moto_endpoints,
    moto_images,
    botocore_words,
    botocore_ranges,
    botocore_texts,
    botocore_regions,
    cfn_lint_offerings,
    cfn_lint_schemas,
    cfn_lint_services,
    cfn_lint_iam,
)

__all__ = [
    "PEERS",
    "Compared",
    "botocore_ranges",
    "botocore_regions",
    "botocore_texts",
    "botocore_words",
    "cfn_lint_iam",
    "cfn_lint_offerings",
    "cfn_lint_schemas",
    "cfn_lint_services",
    "moto_endpoints",
    "moto_images",
    "moto_places",
    "moto_types",
]
