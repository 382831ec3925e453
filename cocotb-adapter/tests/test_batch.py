"""Many items in one call record what as many calls would."""

from __future__ import annotations

import subprocess
import sys
from typing import Any, List

import pytest
from conftest import Daemon
from test_daemon import open_trace

from cocotbext.uscope import UscopeError

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

needs_numpy = pytest.mark.skipif(numpy is None, reason="numpy is not installed")
KINDS = [pytest.param("list", id="list"), pytest.param("numpy", id="numpy", marks=needs_numpy)]


def sequence(kind: str, values: List[int], dtype: str = "int64") -> Any:
    return values if kind == "list" else numpy.array(values, dtype=dtype)


@pytest.mark.parametrize("kind", KINDS)
def test_set_many_is_many_sets(daemon: Daemon, kind: str) -> None:
    t, clock = open_trace()
    for cycle in range(60):
        clock.ps = cycle
        slots = sequence(kind, [s for _ in range(40) for s in range(32)], "uint8")
        t.core0.regs.set_many(slots, "value", sequence(kind, [cycle * 32 + s for s in range(32)] * 40))
        t.core0.rob.set_many(sequence(kind, [1, 2]), "done", 1)
    stats = t.close()
    assert stats is not None and (stats.items, stats.rejected) == (60 * (1280 + 2), 0)
    items = daemon.dump("core0")
    values = [(i["slot"], int(i["value"])) for i in items if i["storage"] == "core0/regs"]
    assert values == [(s, cycle * 32 + s) for cycle in range(60) for _ in range(40) for s in range(32)]


@pytest.mark.parametrize("kind", KINDS)
def test_emit_many_is_many_emits(daemon: Daemon, kind: str) -> None:
    t, clock = open_trace()
    for clock.ps in range(10):
        ids = sequence(kind, list(range(2000)))
        t.emit_many("core0/stage_transition", entity_id=ids, stage=sequence(kind, [i % 5 for i in range(2000)]))
        t.emit_many("core0/annotate", entity_id=ids[:3], text=["a", "b", "a"])
    t.emit_many("core0/flush", entity_id=sequence(kind, [1, 2]), reason="interrupt")
    stats = t.close()
    assert stats is not None and (stats.items, stats.strings) == (10 * 2003 + 2, 2)
    items = daemon.dump("core0")
    stages = ["fetch", "decode", "execute", "memory", "writeback"]
    first = [{"entity_id": str(i), "stage": stages[i % 5]} for i in range(2000)]
    first += [{"entity_id": str(i), "text": text} for i, text in enumerate("aba")]
    assert [i["fields"] for i in items[: 2003 * 10]] == first * 10
    assert [i["fields"] for i in items[-2:]] == [{"entity_id": e, "reason": "interrupt"} for e in "12"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_does_not_fit_is_refused_one_by_one(daemon: Daemon, kind: str) -> None:
    t, _ = open_trace()
    t.core0.regs.set_many(sequence(kind, [0, 32, 1, -1, 2]), "value", sequence(kind, [1, 2, 1 << 32, 4, 5]))
    t.emit_many("core0/flush", entity_id=sequence(kind, [1, 2, 3]), reason=sequence(kind, [0, 256, 1]))
    t.core0.regs.set_many(sequence(kind, []), "value", sequence(kind, []))
    assert t.reasons == {"OP_SLOT": 2, "OP_VALUE": 2}
    for wrong, message in [
        (lambda: t.core0.regs.set_many(sequence(kind, [1, 2]), "value", sequence(kind, [1])), "2 slots and 1 values"),
        (lambda: t.emit_many("core0/flush", entity_id=sequence(kind, [1]), reason=[1, 2]), "sequences of"),
        (lambda: t.emit_many("core0/flush", entity_id=1, reason=1), "no field is a sequence"),
        (lambda: t.emit_many("core0/flush", entity_id=[1]), "missing: reason"),
    ]:
        with pytest.raises(UscopeError, match=message):
            wrong()
    t.close()
    assert [(i["slot"], i["value"]) for i in daemon.dump("core0") if i["op"] == "set"] == [(0, "1"), (2, "5")]
    assert [i["fields"]["entity_id"] for i in daemon.dump("core0") if i["op"] == "event"] == ["1", "3"]


@needs_numpy
def test_numpy_numbers_are_numbers_and_fractions_are_refused(daemon: Daemon) -> None:
    t, _ = open_trace()
    t.core0.regs[int(numpy.uint8(3))].value = numpy.uint16(9)
    t.core0.cycles.add(numpy.int64(2))
    with pytest.raises(UscopeError, match="arrays must be of whole numbers, not int64 and float64"):
        t.core0.regs.set_many(numpy.array([1]), "value", numpy.array([1.5]))
    t.close()
    assert [i["value"] for i in daemon.dump("core0")] == ["9", "2"]


def test_numpy_is_not_imported() -> None:
    code = "import sys, cocotbext.uscope; sys.exit('numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
