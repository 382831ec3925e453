/** A made-up instruction stream on two 64-bit channels of the RISC-V Formal Interface, and what a trace of it has to hold. */
import type { Fact } from './retired-stream.js';

/** One channel of one cycle, by the interface's names without `rvfi_`. */
export interface Packet {
  order: bigint;
  insn: number;
  trap: boolean;
  halt: boolean;
  intr: boolean;
  mode: number;
  ixl: number;
  rs1: readonly [number, bigint];
  rs2: readonly [number, bigint];
  rd: readonly [number, bigint];
  pc: bigint;
  next: bigint;
  memAddr: bigint;
  rmask: number;
  wmask: number;
  rdata: bigint;
  wdata: bigint;
}

export interface Made {
  readonly packet: Packet;
  /** Events the instruction has, but for stage_transition, flush and interrupt. */
  readonly facts: Fact[];
}

const U64 = (1n << 64n) - 1n;
export const HANDLER = 0x4000n;
/** bytes of `data` that `mask` names */
const masked = (data: bigint, mask: number): bigint =>
  Array.from({ length: 8 }, (_, n) => BigInt(n))
    .filter((n) => (mask >> Number(n)) & 1)
    .reduce((sum, n) => sum | (data & (0xffn << (8n * n))), 0n);

export class Stream {
  readonly registers = Array.from({ length: 32 }, () => 0n);
  private order: bigint;
  private pc = 0xffff_ffff_8000_0000n;
  private trapped = false;
  private state = 0x1234_5678_9abc_def1n;

  constructor(first: bigint) {
    this.order = first;
  }

  /** Indices that no instruction gets. */
  skip(count: number): void {
    this.order += BigInt(count);
  }

  get nextOrder(): bigint {
    return this.order;
  }

  random(): bigint {
    this.state ^= (this.state << 13n) & U64;
    this.state ^= this.state >> 7n;
    this.state ^= (this.state << 17n) & U64;
    return this.state;
  }

  below(limit: number): number {
    return Number(this.random() % BigInt(limit));
  }

  /** The next instruction: one of those below, sometimes the first after an interrupt. */
  make(): Made {
    const interrupted = !this.trapped && this.below(20) === 0;
    if (interrupted) this.pc = HANDLER + 0x100n;
    const intr = interrupted || this.trapped;
    this.trapped = false;
    const made = this.kinds[this.below(this.kinds.length)]!();
    made.packet.intr = intr;
    return made;
  }

  /** c.li x1, 1, never interrupted. */
  plain(): Made {
    const made = this.kinds[1]!();
    made.packet.intr = this.trapped;
    this.trapped = false;
    return made;
  }

  private packet(insn: number, length: bigint, changes: Partial<Packet> = {}): Packet {
    const next = changes.next ?? this.pc + length;
    const packet: Packet = {
      order: this.order++,
      insn,
      trap: false,
      halt: false,
      intr: false,
      mode: [0, 1, 3][this.below(3)]!,
      ixl: 2,
      rs1: [0, 0n],
      rs2: [0, 0n],
      rd: [0, 0n],
      pc: this.pc,
      memAddr: this.random(),
      rmask: 0,
      wmask: 0,
      rdata: this.random(),
      wdata: this.random(),
      ...changes,
      next,
    };
    this.pc = next;
    if (packet.rd[0]) this.registers[packet.rd[0]] = packet.rd[1];
    return packet;
  }

  private source(): readonly [number, bigint] {
    const register = this.below(32);
    return [register, this.registers[register]!];
  }

  private readonly kinds: readonly (() => Made)[] = [
    // add
    () => {
      const [rs1, rs2, rd] = [this.source(), this.source(), 1 + this.below(30)];
      const value = this.random();
      const insn = 0x33 | (rd << 7) | (rs1[0] << 15) | (rs2[0] << 20);
      return { packet: this.packet(insn, 4n, { rs1, rs2, rd: [rd, value] }), facts: [write(rd, value)] };
    },
    // c.li x1, 1
    () => ({ packet: this.packet(0x4085, 2n, { rd: [1, 1n] }), facts: [write(1, 1n)] }),
    // ld, of which only some bytes are valid
    () => this.access(0x3003, 0x0f << this.below(5), 0),
    () => this.access(0x3023, 0, 1 << this.below(8)),
    // amoadd.d
    () => this.access(0x302f, 0xff, 0xff),
    // beq, c.beqz: taken or not
    () => ({ packet: this.packet(0x63, 4n, this.jump(this.below(2) === 0 ? 64n : 4n)), facts: [] }),
    () => ({ packet: this.packet(0xc001, 2n, this.jump(this.below(2) === 0 ? 64n : 2n)), facts: [] }),
    // c.j
    () => ({ packet: this.packet(0xa001, 2n, this.jump(-32n)), facts: [] }),
    () => this.trap(0x73, null, (mode) => [8n + BigInt(mode), 0n]),
    () => this.trap(0x9002, null, () => [3n, this.pc]),
    // ld and c.ld, misaligned; sd and c.sd, of an address nobody answers to; an instruction that means nothing
    () => this.trap(0x0030_3003, 0x1002n, () => [4n, 0x1005n]),
    () => this.trap(0x6400, 0x1004n, () => [4n, 0x100cn]),
    () => this.trap(0xfe00_3c23, 0x2000n, () => [7n, 0x1ff8n]),
    () => this.trap(0xe000, 0x2000n, () => [7n, 0x2000n]),
    () => this.trap(0xffff_ffff, null, () => [2n, 0xffff_ffffn]),
    // jal to a place that is not an instruction's
    () => this.trap(0x0020_006f, null, () => [0n, this.pc + 2n]),
  ];

  private jump(distance: bigint): Partial<Packet> {
    return { next: (this.pc + distance) & U64 };
  }

  private access(insn: number, rmask: number, wmask: number): Made {
    const packet = this.packet(insn, 4n, { rmask, wmask });
    const { memAddr: addr, rdata, wdata } = packet;
    const fact = (event: string, mask: number, data: bigint): Fact => ({
      event,
      fields: { addr, mask: BigInt(mask), data: masked(data, mask) },
    });
    const facts: Fact[] = [];
    if (rmask) facts.push(fact('mem_read', rmask, rdata));
    if (wmask) facts.push(fact('mem_write', wmask, wdata));
    return { packet, facts };
  }

  private trap(insn: number, base: bigint | null, say: (mode: number) => [bigint, bigint]): Made {
    const mode = [0, 1, 3][this.below(3)]!;
    const [cause, tval] = say(mode);
    // x31 is never written: it may hold anything.
    const rs1: readonly [number, bigint] = base === null ? [0, 0n] : [31, base];
    this.trapped = true;
    const packet = this.packet(insn, 4n, { trap: true, mode, rs1, next: HANDLER });
    return { packet, facts: [{ event: 'trap', fields: { cause, tval, target: HANDLER } }] };
  }
}

function write(index: number, value: bigint): Fact {
  return { event: 'reg_write', fields: { index: BigInt(index), value } };
}

export interface Cycle {
  readonly rst?: boolean;
  /** By channel; null: not valid, its other signals hold rubbish. */
  readonly channels: readonly [Packet | null, Packet | null];
}

const RUBBISH = [[U64, 647]] as const;

/** Cycles as lines for $readmemh: rst, then channel 1, then channel 0. */
export function stimulusLine({ rst = false, channels }: Cycle): string {
  let bits = rst ? 1n : 0n;
  for (const channel of [channels[1], channels[0]])
    for (const [value, width] of channel ? packed(channel) : RUBBISH)
      bits = (bits << BigInt(width)) | BigInt(value);
  return bits.toString(16);
}

/** In the order of the structure in test/dpi/rvfi.sv. */
function packed(p: Packet): readonly (readonly [bigint | number | boolean, number])[] {
  return [
    [1, 1],
    [p.order, 64],
    [p.insn >>> 0, 32],
    [p.trap, 1],
    [p.halt, 1],
    [p.intr, 1],
    [p.mode, 2],
    [p.ixl, 2],
    [p.rs1[0], 5],
    [p.rs2[0], 5],
    [p.rd[0], 5],
    [p.rs1[1], 64],
    [p.rs2[1], 64],
    [p.rd[1], 64],
    [p.pc, 64],
    [p.next, 64],
    [p.memAddr, 64],
    [p.rmask, 8],
    [p.wmask, 8],
    [p.rdata, 64],
    [p.wdata, 64],
  ];
}
