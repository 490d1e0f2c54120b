"""What every pass promises, held against the passes of this package."""

from __future__ import annotations

import pytest

from ge_core.testing import GraphKnobs, pass_conformance

# A join's parts have to be made by nodes of their own: of few nodes, and calls, hardly one is.
FLAT = GraphKnobs(nodes=20, control_flow=False)

test_concat = pass_conformance("ConcatNotaskPass", knobs=FLAT)
test_pack = pass_conformance("PackNotaskPass", knobs=FLAT)
test_split = pass_conformance("SplitNotaskPass", knobs=FLAT)

test_concat_campaign = pytest.mark.soak(pass_conformance("ConcatNotaskPass", samples=1000))
test_pack_campaign = pytest.mark.soak(pass_conformance("PackNotaskPass", samples=1000))
test_split_campaign = pytest.mark.soak(pass_conformance("SplitNotaskPass", samples=1000))
