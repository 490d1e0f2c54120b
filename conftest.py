"""What every test run shares: the hypothesis profiles, and which tests wait for `make soak`."""

import os

import pytest
from hypothesis import HealthCheck, settings

# Two test processes with a thread per core each fight: matrices here are small.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

SOAK = os.environ.get("GE_SOAK") == "1"

# `ci` gives the same examples on every machine; what varies is the order of the tests, whose seed
# is printed: `make test ARGS=--randomly-seed=...` repeats it. `soak` looks for new examples.
settings.register_profile(
    "ci",
    database=None,
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "soak",
    deadline=None,
    max_examples=5000,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "soak" if SOAK else "ci"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests marked `soak` unless GE_SOAK=1."""
    if SOAK:
        return
    long = [item for item in items if item.get_closest_marker("soak")]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not item.get_closest_marker("soak")]
