"""What every assigner and target promises, held against those of this package."""

from __future__ import annotations

import pytest

from ge_core.testing import assigner_conformance, target_conformance

test_bump = assigner_conformance("bump")
test_fast = assigner_conformance("fast")
test_best = assigner_conformance("best", problems=4, graphs=2)
test_best_campaign = pytest.mark.soak(assigner_conformance("best", problems=300, graphs=60))
test_ascend = target_conformance("ascend", samples=4)
