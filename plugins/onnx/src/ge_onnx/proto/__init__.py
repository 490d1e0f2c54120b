"""Protobuf messages of ONNX and the plain values that the graph holds in their place."""
