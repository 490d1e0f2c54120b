"""LSTM, GRU and RNN: all directions, sequence lengths, layouts and activations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ge_onnx.kernels.activations import Activation, activations_of
from ge_onnx.kernels.call import Array, Call

State = tuple[Array, ...]
Step = Callable[[Array, State], State]
"""One turn: the input's share of the gates, the state before -> the state after, output first."""


@dataclass
class _Cell:
    """One direction of a recurrent op.

    Attributes:
        weight, bias: what turns an input into its share of the gates.
        step: the rest of a turn.
        start: the state before the first turn.
    """

    weight: Array
    bias: Array
    step: Step
    start: State


def lstm(
    call: Call,
    data: Array,
    weight: Array,
    recurrence: Array,
    bias: Array | None = None,
    lengths: Array | None = None,
    hidden: Array | None = None,
    cell: Array | None = None,
    peephole: Array | None = None,
) -> Any:
    """LSTM; gates in the order input, output, forget, cell."""
    size = recurrence.shape[2]

    def make(at: int, functions: Sequence[Activation], start: Sequence[Array]) -> _Cell:
        own = recurrence[at].T
        peep = np.zeros(3 * size, data.dtype) if peephole is None else peephole[at]
        clip, forget_is_rest = call.get("clip"), call.get("input_forget", 0)
        sigma, squash, final = functions

        def step(gates: Array, state: State) -> State:
            h, c = state
            gates = gates + h @ own
            i, o, f, g = (gates[:, k * size : (k + 1) * size] for k in range(4))
            i = sigma(_clipped(i + peep[:size] * c, clip))
            f = 1 - i if forget_is_rest else sigma(_clipped(f + peep[2 * size :] * c, clip))
            c = f * c + i * squash(_clipped(g, clip))
            o = sigma(_clipped(o + peep[size : 2 * size] * c, clip))
            return o * final(c), c

        return _Cell(weight[at], _whole_bias(bias, at, 4 * size, data), step, tuple(start))

    return _run(call, data, lengths, [hidden, cell], size, ("Sigmoid", "Tanh", "Tanh"), make)


def gru(
    call: Call,
    data: Array,
    weight: Array,
    recurrence: Array,
    bias: Array | None = None,
    lengths: Array | None = None,
    hidden: Array | None = None,
) -> Any:
    """GRU; gates in the order update, reset, hidden."""
    size = recurrence.shape[2]
    after = bool(call.get("linear_before_reset", 0))

    def make(at: int, functions: Sequence[Activation], start: Sequence[Array]) -> _Cell:
        both, last = recurrence[at, : 2 * size].T, recurrence[at, 2 * size :].T
        offset, inner = _whole_bias(bias, at, 3 * size, data), np.zeros(size, data.dtype)
        if bias is not None and after:
            # Behind the reset gate the recurrent bias of the hidden gate is scaled with the rest.
            inner = bias[at, 5 * size :]
            offset = offset.copy()
            offset[2 * size :] = bias[at, 2 * size : 3 * size]
        clip = call.get("clip")
        sigma, squash = functions

        def step(gates: Array, state: State) -> State:
            (h,) = state
            mixed = gates[:, : 2 * size] + h @ both
            update = sigma(_clipped(mixed[:, :size], clip))
            reset = sigma(_clipped(mixed[:, size:], clip))
            recurrent = reset * (h @ last + inner) if after else (reset * h) @ last
            fresh = squash(_clipped(gates[:, 2 * size :] + recurrent, clip))
            return ((1 - update) * fresh + update * h,)

        return _Cell(weight[at], offset, step, tuple(start))

    return _run(call, data, lengths, [hidden], size, ("Sigmoid", "Tanh"), make)


def rnn(
    call: Call,
    data: Array,
    weight: Array,
    recurrence: Array,
    bias: Array | None = None,
    lengths: Array | None = None,
    hidden: Array | None = None,
) -> Any:
    """RNN."""
    size = recurrence.shape[2]

    def make(at: int, functions: Sequence[Activation], start: Sequence[Array]) -> _Cell:
        own, clip = recurrence[at].T, call.get("clip")

        def step(gates: Array, state: State) -> State:
            return (functions[0](_clipped(gates + state[0] @ own, clip)),)

        return _Cell(weight[at], _whole_bias(bias, at, size, data), step, tuple(start))

    return _run(call, data, lengths, [hidden], size, ("Tanh",), make)


def _run(
    call: Call,
    data: Array,
    lengths: Array | None,
    states: Sequence[Array | None],
    size: int,
    defaults: Sequence[str],
    make: Callable[[int, Sequence[Activation], Sequence[Array]], _Cell],
) -> tuple[Array, ...]:
    batch_first = bool(call.get("layout", 0))
    if batch_first:
        data = data.swapaxes(0, 1)
        states = [None if state is None else state.swapaxes(0, 1) for state in states]
    direction = call.get("direction", "forward")
    count = 2 if direction == "bidirectional" else 1
    functions = activations_of(call, defaults, count)
    turns, batch = data.shape[:2]
    spans = np.full(batch, turns) if lengths is None else lengths.astype(np.int64)
    results = np.zeros((turns, count, batch, size), dtype=data.dtype)
    finals = [np.zeros((count, batch, size), dtype=data.dtype) for _ in states]
    for at in range(count):
        zero = np.zeros((batch, size), dtype=data.dtype)
        start = [zero if state is None else np.ascontiguousarray(state[at]) for state in states]
        cell = make(at, functions[at], start)
        backwards = direction == "reverse" or at == 1
        for final, value in zip(
            finals, _direction(cell, data, spans, results[:, at], backwards), strict=True
        ):
            final[at] = value
    if batch_first:
        return (
            np.ascontiguousarray(results.transpose(2, 0, 1, 3)),
            *(np.ascontiguousarray(final.swapaxes(0, 1)) for final in finals),
        )
    return (results, *finals)


def _direction(cell: _Cell, data: Array, spans: Array, results: Array, backwards: bool) -> State:
    """Run one direction; writes its outputs into `results` and returns the last states."""
    turns, batch = data.shape[:2]
    rows = np.arange(batch)
    state = cell.start
    flat = np.ascontiguousarray(data).reshape(turns * batch, -1)
    gates = (flat @ cell.weight.T + cell.bias).reshape(turns, batch, -1)
    for turn in range(turns):
        running = turn < spans
        if not running.any():
            break
        place = np.where(running, spans - 1 - turn, 0) if backwards else np.full(batch, turn)
        new = cell.step(gates[place, rows], state)
        if running.all():
            state = new
        else:
            keep = running[:, None]
            state = tuple(np.where(keep, a, b) for a, b in zip(new, state, strict=True))
        results[place[running], rows[running]] = new[0][running]
    return state


def _whole_bias(bias: Array | None, at: int, size: int, data: Array) -> Array:
    """Input bias and recurrent bias, which are only ever added."""
    if bias is None:
        return np.zeros(size, dtype=data.dtype)
    whole: Array = bias[at, :size] + bias[at, size:]
    return whole


def _clipped(gates: Array, clip: float | None) -> Array:
    return gates if clip is None else np.clip(gates, -clip, clip)
