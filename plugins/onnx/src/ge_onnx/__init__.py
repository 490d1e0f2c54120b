"""Reads and writes ONNX models."""
