"""A pluggable graph compiler kernel."""
