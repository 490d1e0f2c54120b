"""Removes TensorMove nodes whose copy cannot be observed."""
