"""Measurements, each with what it is compared with in the same run."""
