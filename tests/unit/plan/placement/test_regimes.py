"""Compliance regimes: permitted sites and regions, obligations and citation of each, and the decision that follows."""

import re
from itertools import chain

import pytest

from landbridge.catalog.regimes import obligations, regimes
from landbridge.environment.base import Site
from landbridge.plan.placement.job import PlacementJob
from landbridge.plan.placement.residency import obligations_at, residency_refusals
from tests.unit.core.samples import environment

#: Region of each group; on-prem is "".
REGIONS = {"onprem": "", "us": "us-east-1", "govcloud": "us-gov-west-1", "eu": "eu-central-1"}
#: Regime: permitted groups, obligations on-prem, obligations in AWS, words of the citation. GDPR in the United States and
#: ITAR in a commercial region need a document that a file cannot prove: default deny.
TABLE = [
    ("hipaa", "onprem us govcloud", "customer_key audit_log encryption no_tags no_metrics", "baa encryption eligible_services", "45 CFR 164.308(b)"),
    ("fedramp_moderate", "onprem us govcloud", "own_ato", "fips_endpoints in_scope_services", "P-ATO Moderate"),
    ("fedramp_high", "onprem govcloud", "own_ato", "fips_endpoints in_scope_services", "P-ATO High"),
    ("itar", "onprem govcloud", "us_site us_persons no_replication_abroad", "us_persons ddtc_registration itar_services fips_endpoints", "22 CFR 120.54(a)(5)"),
    ("gdpr", "onprem eu", "eu_site", "dpa region_lock no_replication_abroad no_telemetry_abroad", "articles 28 and 44 to 49"),
    ("pci_dss", "onprem us govcloud eu", "segmentation no_artifacts", "segmentation", "PCI DSS 4.0.1"),
    ("classified", "onprem", "no_telemetry offline_replica", "", "classifying authority"),
]  # fmt: skip

#: Obligations that make no sense at the other place.
ONLY_IN_AWS = {"baa", "eligible_services", "in_scope_services", "dpa", "ddtc_registration", "itar_services"}
ONLY_ONPREM = {"own_ato", "us_site", "eu_site"}


def test_the_table_has_every_regime() -> None:
    assert {row[0] for row in TABLE} == set(regimes())


@pytest.mark.parametrize(("name", "groups", "onprem", "aws", "citation"), TABLE, ids=[row[0] for row in TABLE])
def test_a_regime_decides_where_data_may_be_and_what_it_requires(
    name: str, groups: str, onprem: str, aws: str, citation: str
) -> None:
    for group, region in REGIONS.items():
        site: Site = "aws" if region else "onprem"
        base = environment(
            {
                # The regime decides alone: the class itself permits every place.
                ("data_classes", "regulated"): {"sites": ["onprem", "aws"], "regions": [region] if region else []},
                ("scheduler", "accounts", "team"): {"users": ["bob"], "data_class": "regulated"},
            }
        )
        regulated = base.data_classes["regulated"].model_copy(update={"regime": name})
        chosen = base.model_copy(update={"data_classes": {**base.data_classes, "regulated": regulated}})
        job = PlacementJob("team", 1, 1.0)
        refusals = list(residency_refusals(chosen, job, site, region))
        assert (group in groups.split()) == (not refusals), (group, refusals)
        for refusal in refusals:
            assert refusal.filter == "regime" and citation in refusal.citation
            assert regimes()[name].title in refusal.text
        if not refusals:
            required = set(obligations_at(chosen, job, site, region))
            assert set((aws if region else onprem).split()) <= required
            assert not required & (ONLY_ONPREM if region else ONLY_IN_AWS)


def test_obligations_have_words() -> None:
    words = set(chain.from_iterable(re.split(r"\s", f"{row[2]} {row[3]}") for row in TABLE)) - {""}
    assert words <= set(obligations())
