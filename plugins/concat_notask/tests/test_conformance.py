"""What every pass promises, held against the passes of this package."""

from __future__ import annotations

from ge_core.testing import pass_conformance

test_concat = pass_conformance("ConcatNotaskPass")
test_pack = pass_conformance("PackNotaskPass")
test_split = pass_conformance("SplitNotaskPass")
