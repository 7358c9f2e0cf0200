"""Quantised versions: INT8 weights for an ONNX model, and measurements of model folders with ONNX Runtime."""
