"""The models of the demo and of the tests, restored where their weights were emptied."""

from __future__ import annotations

import importlib.util
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx

ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT / "examples" / "models", ROOT / "tests" / "models")


@dataclass(frozen=True)
class Model:
    """One model with the inputs it is run with."""

    path: Path
    feeds: Mapping[str, Mapping[str, Any]]
    stub: bool

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of all inputs."""
        return {name: tuple(feed["shape"]) for name, feed in self.feeds.items()}

    def file(self, folder: Path) -> Path:
        """The model, with its weights filled in where it is a stub."""
        if not self.stub:
            return self.path
        target = folder / self.path.name.replace(".stub", "")
        if not target.exists():
            onnx.save(_restore(onnx.load(self.path)), target)
        return target

    def values(self) -> dict[str, Any]:
        """Seeded inputs."""
        made = {}
        for name, feed in self.feeds.items():
            dtype, shape = np.dtype(feed["dtype"]), tuple(feed["shape"])
            random = np.random.default_rng(zlib.crc32(name.encode()))
            if "value" in feed:
                made[name] = np.array(feed["value"], dtype).reshape(shape)
            elif dtype.kind in "iu":
                made[name] = random.integers(0, 4, shape).astype(dtype)
            else:
                made[name] = np.asarray(random.standard_normal(shape)).astype(dtype)
        return made


def models() -> list[Model]:
    """All models by name."""
    found = []
    for folder in FOLDERS:
        for entry in json.loads((folder / "index.json").read_text()):
            path = folder / entry["file"]
            found.append(Model(path, entry["feeds"], entry.get("stub", False)))
    return sorted(found, key=lambda model: model.path.name)


def _restore(model: onnx.ModelProto) -> onnx.ModelProto:
    spec = importlib.util.spec_from_file_location("restore", FOLDERS[1] / "restore.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    restored: onnx.ModelProto = module.restore(model)
    return restored
