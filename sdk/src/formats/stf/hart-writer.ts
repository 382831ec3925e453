/** The STF of one hart: header, instructions with their traps and memory accesses, and what must be said about them. */
import { appendAll } from '../../base/arrays.js';
import { UscopeError } from '../../base/errors.js';
import type { Trace } from '../../reader/index.js';
import { type CpuCore, type Instruction, InstructionEnd } from '../../semantics/cpu/index.js';
import type { ByteOutput, ConversionContext } from '../common/foreign-format.js';
import type { Tally } from '../common/report.js';
import type { KnownAccess } from './address-join.js';
import type { ExportOptions } from './from-instructions.js';
import {
  eventOfTrap,
  Flow,
  flowOf,
  isInterruptCause,
  lengthOf,
  type MemoryUse,
  memoryUseOf,
  targetOf,
} from './riscv.js';
import { StfFeature, StfIem, StfIsa, type StfRecord, StfType } from './types.js';
import { StfWriter } from './writer.js';

const EVENT64_MINOR = 5;
const ISA_EXTENDED_MINOR = 6;
const [READ, WRITE] = [1, 2];
const encoder = new TextEncoder();

export class HartWriter {
  private readonly writer: StfWriter;
  private readonly stream: RetiredStream;
  private readonly kept: Tally;
  private readonly traps: Tally;
  private readonly outOfOrder: Tally;
  private readonly accesses: Tally;
  private readonly guessed: Tally;
  private readonly without: Tally;
  private loadsWithout = 0;
  private storesWithout = 0;
  private lastEndPs = 0n;
  private hasHeader = false;
  private unknownContents = 0;

  constructor(
    output: ByteOutput,
    private readonly trace: Trace,
    private readonly core: CpuCore,
    private readonly iem: number,
    private readonly options: ExportOptions,
    private readonly context: ConversionContext,
  ) {
    this.writer = new StfWriter(output, options.writer);
    this.stream = new RetiredStream(this.writer, iem);
    const { report } = context;
    this.kept = report.kept('retired instructions', 'OPCODE records; jumps rebuilt as INST_PC_TARGET');
    this.traps = report.kept('traps', 'EVENT and EVENT_PC_TARGET');
    this.outOfOrder = report.approximated('order of retirement', 'in the order of fetch, not of the ends');
    this.accesses = report.kept('memory accesses', 'INST_MEM_ACCESS and INST_MEM_CONTENT');
    this.guessed = report.approximated('contents of memory accesses', 'not recorded: written as 0');
    this.without = report.dropped('memory accesses without an address', 'no buffer of the core has it');
  }

  /** Whether `flush` is due. */
  get isFull(): boolean {
    return this.writer.isFull;
  }

  flush(): Promise<void> {
    return this.writer.flush();
  }

  /** The next instruction in the order of fetch: one that retired, or one that took a trap. */
  take(instruction: Instruction, access: KnownAccess | null): void {
    const { pc, trap, isCompressed, endPs } = instruction;
    const bits = lengthOf(instruction.bits!) === 2 ? instruction.bits! & 0xffff : instruction.bits!;
    if (isCompressed === true && lengthOf(bits) === 4) throw this.expanded(pc!);
    const isRetired = instruction.end === InstructionEnd.RETIRED;
    if (!isRetired && trap && isInterruptCause(trap.cause ?? 0n, this.iem)) {
      this.interruptBefore(instruction, bits);
      return;
    }
    this.begin(pc!);
    const records = isRetired ? this.memoryRecords(bits, access) : [];
    if (trap) appendAll(records, this.trapRecords(instruction, bits));
    this.checkOrder(isRetired ? endPs : null);
    this.stream.push({ pc: pc!, bits, records, trapTarget: trap?.target ?? null, architecturalNext: null });
    if (isRetired) this.kept.count++;
  }

  /** @param hasQueues some buffer of the core records addresses */
  async close(hasQueues: boolean): Promise<void> {
    this.begin(0n); // nothing but interrupts: a header alone
    this.stream.end();
    const { loadsWithout: loads, storesWithout: stores } = this;
    if (loads + stores > 0) {
      const why = hasQueues ? 'no buffer held their address' : 'the trace has no buffer with addresses';
      const text = `${loads} loads and ${stores} stores have no INST_MEM_ACCESS: ${why}`;
      this.comment(text);
      this.context.onWarning?.(`${this.core.name}: ${text}`);
    }
    if (this.unknownContents > 0)
      this.comment(`${this.unknownContents} INST_MEM_CONTENT are 0: not recorded`);
    const { targets, forced } = this.stream.counts;
    this.context.report.kept('jumps and taken branches', 'INST_PC_TARGET').count += targets;
    this.context.report.approximated('other breaks of the program flow', 'FORCE_PC').count += forced;
    await this.writer.close();
  }

  private begin(pc: bigint): void {
    if (this.hasHeader) return;
    this.hasHeader = true;
    for (const record of this.header(pc)) this.writer.record(record);
  }

  private header(pc: bigint): StfRecord[] {
    const { options, core } = this;
    const dut = this.trace.dutProperty('dut_name') ?? '';
    const text = encoder.encode(`uscope: ${dut} ${core.name}`.slice(0, 1000));
    const { generator, generatorVersion: version, minor } = options;
    const records: StfRecord[] = [
      { type: StfType.IDENTIFIER },
      { type: StfType.VERSION, major: 1, minor },
      { type: StfType.ISA, isa: StfIsa.RISCV },
      { type: StfType.INST_IEM, iem: this.iem },
      { type: StfType.TRACE_INFO, generator, version, text },
      { type: StfType.TRACE_INFO_FEATURE, features: this.features() },
      { type: StfType.FORCE_PC, pc },
    ];
    if (minor >= ISA_EXTENDED_MINOR && core.xlen !== null && core.isa) {
      records.push({ type: StfType.ISA_EXTENDED, text: encoder.encode(core.isa.trim().toLowerCase()) });
    }
    return [...records, { type: StfType.END_HEADER }];
  }

  /** Only what is true of every file made here. */
  private features(): bigint {
    const bits: number[] = [];
    if (this.iem === StfIem.RV64) bits.push(StfFeature.RV64);
    if (this.core.events.has('trap')) bits.push(StfFeature.EVENT);
    if (this.options.minor >= EVENT64_MINOR) bits.push(StfFeature.EVENT64);
    return bits.reduce((all, bit) => all | (1n << BigInt(bit)), 0n);
  }

  /** An interrupt taken instead of an instruction belongs to the one before it, which took effect. */
  private interruptBefore(instruction: Instruction, bits: number): void {
    const { last } = this.stream;
    if (!last || last.trapTarget !== null) return; // a FORCE_PC will mark the break
    const records = [...last.records, ...this.trapRecords(instruction, bits)];
    const trapTarget = instruction.trap!.target;
    this.stream.amend({ ...last, records, trapTarget, architecturalNext: instruction.pc });
  }

  private trapRecords({ pc, trap }: Instruction, bits: number): StfRecord[] {
    const { cause, tval, target } = trap!;
    if (cause === null) return [];
    this.traps.count++;
    const event = eventOfTrap({ cause, tval: tval ?? 0n, pc: pc!, bits, iem: this.iem });
    const isWide = this.options.minor >= EVENT64_MINOR;
    const id = isWide ? event.id : ((event.id >> 63n) << 31n) | (event.id & 0x3fff_ffffn);
    const records: StfRecord[] = [{ type: StfType.EVENT, id, data: event.data }];
    if (target !== null) records.push({ type: StfType.EVENT_PC_TARGET, pc: target });
    return records;
  }

  private memoryRecords(bits: number, access: KnownAccess | null): StfRecord[] {
    const use = memoryUseOf(bits, this.iem);
    if (!use) return [];
    if (access) return this.accessRecords(use, access);
    this.without.count++;
    if (use.reads) this.loadsWithout++;
    else this.storesWithout++;
    return [];
  }

  private accessRecords({ reads, writes, bytes }: MemoryUse, access: KnownAccess): StfRecord[] {
    const { address, content } = placed(access, bytes);
    const kinds = [...(reads ? [READ] : []), ...(writes ? [WRITE] : [])];
    return kinds.flatMap((kind): StfRecord[] => {
      this.accesses.count++;
      // What an atomic read is not what is in the queue to be written.
      const value = reads && writes && kind === READ ? null : content;
      if (value === null) {
        this.guessed.count++;
        this.unknownContents++;
      }
      return [
        { type: StfType.INST_MEM_ACCESS, address, size: bytes, attributes: 0, access: kind },
        { type: StfType.INST_MEM_CONTENT, value: value ?? 0n },
      ];
    });
  }

  private checkOrder(endPs: bigint | null): void {
    if (endPs === null) return;
    if (endPs < this.lastEndPs) {
      if (this.outOfOrder.count++ === 0) {
        this.context.onWarning?.(
          `${this.core.name}: instructions end in another order than they are fetched in`,
        );
      }
    } else this.lastEndPs = endPs;
  }

  private comment(text: string): void {
    this.writer.record({ type: StfType.COMMENT, text: encoder.encode(text) });
  }

  private expanded(pc: bigint): UscopeError {
    return new UscopeError(
      'CONVERT_SOURCE',
      `the compressed instruction at 0x${pc.toString(16)} of ${this.core.name} is recorded expanded to 32 bits; STF needs its own 16`,
    );
  }
}

/** Address of the first byte and what is there, of an access that may be recorded as a word and its lanes. */
function placed(
  { address, data, strobe }: KnownAccess,
  bytes: number,
): { address: bigint; content: bigint | null } {
  let lane = 0;
  if (strobe) while (((strobe >>> lane) & 1) === 0) lane++;
  const isOfWord = lane > 0 && address % 4n === 0n;
  const shift = isOfWord ? BigInt(8 * lane) : 0n;
  const content = data === null ? null : BigInt.asUintN(8 * bytes, data >> shift);
  return { address: isOfWord ? address + BigInt(lane) : address, content };
}

// STF of what a hart retired, made from addresses and bits alone: jumps and their targets are rebuilt from what came next.

/** An instruction in the order in which it took effect. */
export interface StreamInstruction {
  readonly pc: bigint;
  /** A compressed instruction has 16 bits. */
  readonly bits: number;
  /** Written after INST_PC_TARGET: memory accesses, events. An EVENT_PC_TARGET among them overrides the jump. */
  readonly records: readonly StfRecord[];
  /** The address to which it goes next according to the trap it took; the next instruction need not agree. */
  readonly trapTarget: bigint | null;
  /** The address of the next one had there been no interrupt after it; null: that of the one which follows. */
  readonly architecturalNext: bigint | null;
}

export interface RetiredCounts {
  targets: number;
  /** FORCE_PC records after the header: breaks that no jump and no known trap explains. */
  forced: number;
}

/** Writes each instruction when the next one is known. The header has been written, its FORCE_PC the address of the first. */
export class RetiredStream {
  readonly counts: RetiredCounts = { targets: 0, forced: 0 };
  private held: StreamInstruction | null = null;

  constructor(
    private readonly writer: StfWriter,
    /** StfIem */
    private readonly iem: number,
  ) {}

  /** The instruction whose successor is awaited. */
  get last(): StreamInstruction | null {
    return this.held;
  }

  push(instruction: StreamInstruction): void {
    if (this.held) this.write(this.held, instruction.pc);
    this.held = instruction;
  }

  /** Replaces the instruction that waits: more became known of it. */
  amend(instruction: StreamInstruction): void {
    this.held = instruction;
  }

  end(): void {
    if (this.held) this.write(this.held, null);
    this.held = null;
  }

  private write(instruction: StreamInstruction, following: bigint | null): void {
    const { writer } = this;
    const { pc, bits, records } = instruction;
    this.refuseExpanded(instruction, following);
    const [lo, hi] = halves(pc);
    if (writer.nextLo !== lo || writer.nextHi !== hi) {
      writer.address(StfType.FORCE_PC, lo, hi);
      this.counts.forced++;
    }
    const target = this.jumpTarget(instruction, following);
    if (target !== null) {
      writer.address(StfType.INST_PC_TARGET, ...halves(target));
      this.counts.targets++;
    }
    for (const record of records) writer.record(record);
    writer.opcode(bits);
  }

  /** Null: not taken, or not known because nothing follows. An instruction that trapped did not jump. */
  private jumpTarget(instruction: StreamInstruction, following: bigint | null): bigint | null {
    const { pc, bits, trapTarget, architecturalNext } = instruction;
    if (trapTarget !== null && architecturalNext === null) return null;
    const next = architecturalNext ?? following;
    const flow = flowOf(bits, this.iem);
    if (flow === Flow.NONE) return null;
    if (flow === Flow.INDIRECT) return next;
    const taken = targetOf(pc, bits, this.iem);
    if (flow === Flow.JUMP) return taken;
    const isFallThrough = next === this.wrapped(pc + BigInt(lengthOf(bits)));
    return next === taken && !isFallThrough ? taken : null;
  }

  /** A word that is followed at a distance of 2 was a compressed instruction, recorded as what it represents. */
  private refuseExpanded({ pc, bits, trapTarget }: StreamInstruction, following: bigint | null): void {
    if (lengthOf(bits) === 2 || trapTarget !== null || following !== pc + 2n) return;
    if (flowOf(bits, this.iem) !== Flow.NONE) return;
    throw new UscopeError(
      'CONVERT_SOURCE',
      `the instruction at 0x${pc.toString(16)} has 32 bits and the next one follows after 2 bytes: compressed instructions are recorded expanded; STF needs their own 16 bits`,
    );
  }

  private wrapped(pc: bigint): bigint {
    return BigInt.asUintN(this.iem === StfIem.RV32 ? 32 : 64, pc);
  }
}

function halves(value: bigint): [lo: number, hi: number] {
  return [Number(value & 0xffff_ffffn), Number((value >> 32n) & 0xffff_ffffn)];
}
