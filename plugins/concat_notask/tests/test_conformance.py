"""What every pass promises, held against the passes of this package."""

from __future__ import annotations

import pytest

from ge_core.testing import pass_conformance

test_concat = pass_conformance("ConcatNotaskPass")
test_pack = pass_conformance("PackNotaskPass")
test_split = pass_conformance("SplitNotaskPass")

test_concat_campaign = pytest.mark.soak(pass_conformance("ConcatNotaskPass", samples=1000))
test_pack_campaign = pytest.mark.soak(pass_conformance("PackNotaskPass", samples=1000))
test_split_campaign = pytest.mark.soak(pass_conformance("SplitNotaskPass", samples=1000))
