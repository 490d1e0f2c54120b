"""Plugins: hook specs, the index of what is installed, loading, the failure table."""
