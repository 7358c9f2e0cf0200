"""Mistakes with SageMaker beside the cluster."""

from tests.unit.rules.row import Row

SAGEMAKER = ("mlops", "sagemaker")

ROWS = [
    Row("sagemaker-classes", "training on an unknown class", {SAGEMAKER: {"data_classes": ["interal"]}}, (*SAGEMAKER, "data_classes", 0), "internal"),
    Row("sagemaker-classes", "training on data that must stay on-prem", {SAGEMAKER: {"data_classes": ["restricted"]}}, (*SAGEMAKER, "data_classes", 0), "onprem only"),
    Row("sagemaker-classes", "training without data", {("data_classes",): {"restricted": {"sites": ["onprem"]}}, ("scheduler", "accounts"): {}, SAGEMAKER: {}}, SAGEMAKER, "no data to read"),
    Row("sagemaker-groups", "two groups of models of one name", {SAGEMAKER: {"model_groups": ["vision", "vision"]}}, (*SAGEMAKER, "model_groups", 1), 'the model package group "vision" is repeated'),
    Row("sagemaker-without-subnet", "training without a subnet", {("aws", "pools"): [], SAGEMAKER: {}}, SAGEMAKER, "no subnet"),
]  # fmt: skip
