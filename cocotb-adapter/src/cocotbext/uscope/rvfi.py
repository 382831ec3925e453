"""
A core's RISC-V Formal Interface, followed from Python: what `uscope_rvfi.sv` records, for simulators that load no library.

Differences from the module: the rules of the interface are not checked, and traps have no event `trap`, which needs a cause.
"""

from __future__ import annotations

import logging
from typing import Any, List, Optional, Tuple

from .trace import Trace

log = logging.getLogger("cocotbext.uscope")

_LOADS = (0x03, 0x07, 0x2F)
_BRANCH, _JAL, _JALR = 0x63, 0x6F, 0x67
_MACHINE_MODE = 3
# Those that are read; `valid` must be there.
_PORTS = (
    *("order", "insn", "trap", "intr", "mode", "pc_rdata", "pc_wdata", "rd_addr", "rd_wdata"),
    *("mem_addr", "mem_rmask", "mem_wmask", "mem_rdata", "mem_wdata"),
)


class Rvfi:
    """
    The ports ``rvfi_*`` of ``core``, recorded into the scope ``scope`` of a trace with the schema `uscope_rvfi.yaml`.

    ``await Rvfi(trace, dut.core).follow(dut.clk)`` in a separate coroutine, or call `sample` at each rising edge.

    :param trace: opened with the same clock
    :param core: has `rvfi_valid`, `rvfi_order`, `rvfi_insn`, `rvfi_pc_rdata`, `rvfi_pc_wdata`, `rvfi_trap`, `rvfi_rd_addr`, `rvfi_rd_wdata` and
        `rvfi_mem_*`; what is missing is logged
    :param xlen: width of addresses and registers in bits: 32 or 64
    :param channels: instructions that may retire in a cycle, packed as the interface has them: channel 0 in the lowest bits
    :param prefix: of the ports' names
    """

    def __init__(
        self, trace: Trace, core: Any, *, scope: str = "core0", xlen: int = 32, channels: int = 1, prefix: str = "rvfi_"
    ) -> None:
        self._trace = trace
        self._core = core
        self._scope = scope
        self._xlen = xlen
        self._channels = channels
        self._prefix = prefix
        self._view = getattr(trace, scope)
        self._next_id = 0
        self._held: List[Tuple[int, bool]] = []
        self._previous: Optional[Tuple[bool, int]] = None
        self._valid = self._port("valid")
        missing = [prefix + name for name in _PORTS if getattr(core, prefix + name, None) is None]
        self._has_values = prefix + "rd_wdata" not in missing
        if missing:
            log.warning("%s: %s: the core has no %s: what they say is not recorded", trace.name, scope, ", ".join(missing))

    async def follow(self, clock: Any) -> None:
        """Samples at each rising edge of ``clock``, for ever."""
        from cocotb.triggers import RisingEdge

        edge = RisingEdge(clock)
        while True:
            await edge
            self.sample()

    def sample(self) -> None:
        """One rising edge: what the ports show before it. Instructions end in the cycle after the one they retired in."""
        self._end_held()
        self._count("cycles")
        valid = str(self._valid.value)
        if "1" not in valid:
            return
        retired = [channel for channel in range(self._channels) if valid[-1 - channel] == "1"]
        for channel in sorted(retired, key=lambda channel: self._part("order", channel, 64)):
            self._record(channel)

    def _port(self, name: str) -> Any:
        return getattr(self._core, self._prefix + name)

    def _part(self, name: str, channel: int, width: int, default: int = 0) -> int:
        """Bits of a channel; X and Z are 0. ``default`` where the core has no such port."""
        handle = getattr(self._core, self._prefix + name, None)
        if handle is None:
            return default
        bits = str(handle.value)
        end = len(bits) - channel * width
        text = bits[max(0, end - width) : end]
        return int("".join(bit if bit == "1" else "0" for bit in text) or "0", 2)

    def _count(self, name: str) -> None:
        getattr(self._view, name).add()

    def _emit(self, event: str, **values: int) -> None:
        self._trace.emit(f"{self._scope}/{event}", **values)

    def _end_held(self) -> None:
        for entity, trapped in self._held:
            if trapped:
                self._emit("flush", entity_id=entity, reason="exception")  # type: ignore[arg-type]
            self._view.entities[entity].clear()
        self._held.clear()

    def _record(self, channel: int) -> None:
        xlen = self._xlen
        bits, pc = self._part("insn", channel, 32), self._part("pc_rdata", channel, xlen)
        # The number of ids used in turn, as many as two cycles can fill: what ends in a cycle has other ids than what retires in it.
        entity, self._next_id = self._next_id, (self._next_id + 1) % (2 * self._channels)
        compressed = bits & 3 != 3
        self._view.entities[entity].set(
            entity_id=entity,
            pc=pc,
            inst_bits=bits,
            order=self._part("order", channel, 64),
            priv_level=self._part("mode", channel, 2, _MACHINE_MODE),
            is_compressed=int(compressed),
        )
        self._emit("stage_transition", entity_id=entity, stage="retire")  # type: ignore[arg-type]
        trapped, after = bool(self._part("trap", channel, 1)), self._part("pc_wdata", channel, xlen)
        if self._part("intr", channel, 1) and not (self._previous and self._previous[0]):
            self._count("interrupts")
            self._emit("interrupt", entity_id=entity, epc=self._previous[1] if self._previous else 0, target=pc)
        if trapped:
            self._count("traps")
        else:
            self._count("committed_insns")
            self._flow(bits, after == (pc + (2 if compressed else 4)) & ((1 << xlen) - 1))
            self._memory(channel, entity, bits)
            self._register(channel, entity)
        self._held.append((entity, trapped))
        self._previous = (trapped, after)

    def _flow(self, bits: int, goes_on: bool) -> None:
        opcode, quadrant, kind = bits & 0x7F, bits & 3, bits >> 13 & 7
        is_branch = opcode == _BRANCH or (quadrant == 1 and kind >= 6)
        is_jump = opcode in (_JAL, _JALR) or (quadrant == 1 and (kind == 5 or (kind == 1 and self._xlen == 32)))
        is_jump = is_jump or (quadrant == 2 and kind == 4 and not bits >> 2 & 31 and bool(bits >> 7 & 31))
        if is_branch:
            self._count("branches")
            if not goes_on:
                self._count("branches_taken")
        if is_jump:
            self._count("jumps")

    def _memory(self, channel: int, entity: int, bits: int) -> None:
        xlen = self._xlen
        # some cores (Ibex) set the mask on everything that is not a store
        may_read = bits & 3 != 3 or bits & 0x7F in _LOADS
        for event, counter, letter in (("mem_read", "loads", "r"), ("mem_write", "stores", "w")):
            mask = self._part(f"mem_{letter}mask", channel, xlen // 8)
            if not mask or (letter == "r" and not may_read):
                continue
            self._count(counter)
            data = self._part(f"mem_{letter}data", channel, xlen)
            kept = sum(data & 0xFF << 8 * byte for byte in range(xlen // 8) if mask >> byte & 1)
            self._emit(event, entity_id=entity, addr=self._part("mem_addr", channel, xlen), mask=mask, data=kept)

    def _register(self, channel: int, entity: int) -> None:
        # The register without its value would be a value made up.
        index = self._part("rd_addr", channel, 5) if self._has_values else 0
        if index:
            value = self._part("rd_wdata", channel, self._xlen)
            self._emit("reg_write", entity_id=entity, index=index, value=value)
            self._view.regs[index].value = value
