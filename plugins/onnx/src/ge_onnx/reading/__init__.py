"""From a model file to a graph."""
