"""Updates in place that were turned into copy, update and write-back, turned back."""
