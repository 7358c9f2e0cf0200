"""AWS Price List Query API: GetProducts for EC2 instances.

Source: AWS Price List API Reference, GetProducts (filters, pages, PriceList as JSON texts); AWS Billing User Guide, "Using
the AWS Price List Query API" (the endpoints' regions). The attributes of a product and its variants (operating systems,
tenancies, capacity reservations, market options) are those of the offer file of AmazonEC2.
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.server.errors import CloudError

Bag = dict[str, Any]
REGIONS = ("us-east-1", "eu-central-1", "ap-south-1")
_PAGE = 100
#: Attributes of the products of one type and region, and their price as a multiple of Linux on demand: the price of a
#: capacity block is 0, because its reservation is paid in advance.
_VARIANTS: tuple[tuple[Bag, float], ...] = (
    ({}, 1.0),
    ({"operatingSystem": "Windows", "licenseModel": "No License required"}, 1.16),
    ({"tenancy": "Dedicated"}, 1.1),
    ({"capacitystatus": "AllocatedCapacityReservation"}, 0.0),
    ({"capacitystatus": "UnusedCapacityReservation"}, 1.0),
    ({"marketoption": "CapacityBlock"}, 0.0),
    ({"preInstalledSw": "SQL Ent"}, 2.0),
)


def get_products(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer GetProducts. AWS has this API in three regions only; elsewhere the host name does not exist."""
    if region not in REGIONS:
        raise CloudError("UnknownEndpoint", f"There is no endpoint of the price list API in {region}.", 404)
    if request["ServiceCode"] != "AmazonEC2":
        raise CloudError("InvalidParameterException", f"{request['ServiceCode']} is not a valid ServiceCode.")
    filters = request.get("Filters") or []
    products = [
        product
        for product in _products(emulator)
        if all(_passes(product["product"]["attributes"], filter_) for filter_ in filters)
    ]
    token, size = request.get("NextToken"), int(request.get("MaxResults") or _PAGE)
    if token is not None and not (token.isdigit() and int(token) < len(products)):
        raise CloudError("InvalidNextTokenException", "The NextToken is invalid.")
    start = int(token or 0)
    more = {"NextToken": str(start + size)} if start + size < len(products) else {}
    texts = [json.dumps(product) for product in products[start : start + size]]
    return {"FormatVersion": "aws_v1", "PriceList": texts, **more}


def _products(emulator: EmulatorState) -> Iterator[Bag]:
    for place, usd in sorted(emulator.products.items()):
        instance_type, _, region = place.partition("/")
        for change, factor in _VARIANTS:
            attributes = {
                "instanceType": instance_type,
                "regionCode": region,
                "operatingSystem": "Linux",
                "tenancy": "Shared",
                "preInstalledSw": "NA",
                "capacitystatus": "Used",
                "marketoption": "OnDemand",
                "servicecode": "AmazonEC2",
                **change,
            }
            sku = hashlib.sha256(json.dumps(attributes).encode()).hexdigest()[:16].upper()
            term, dimension = f"{sku}.JRTCKXETXF", f"{sku}.JRTCKXETXF.6YS6EN2CT7"
            price = {"unit": "Hrs", "rateCode": dimension, "pricePerUnit": {"USD": f"{usd * factor:.10f}"}}
            yield {
                "product": {"productFamily": "Compute Instance", "attributes": attributes, "sku": sku},
                "serviceCode": "AmazonEC2",
                "terms": {
                    "OnDemand": {
                        term: {
                            "sku": sku,
                            "offerTermCode": "JRTCKXETXF",
                            "effectiveDate": "2026-11-01T00:00:00Z",
                            "priceDimensions": {dimension: price},
                            "termAttributes": {},
                        }
                    }
                },
                "publicationDate": emulator.now().strftime("%Y-%m-%dT%H:%M:%SZ"),
            }


def _passes(attributes: Bag, filter_: Bag) -> bool:
    value, values = attributes.get(filter_["Field"]), filter_["Value"].split(",")
    match filter_["Type"]:
        case "TERM_MATCH" | "EQUALS":
            return bool(value == filter_["Value"])
        case "CONTAINS":
            return value is not None and filter_["Value"] in value
        case "ANY_OF":
            return value in values
        case _:
            return value not in values
