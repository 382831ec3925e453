/** The first pass over a log: what `info` prints, and what the second pass has to know. */
import { isUscopeError, UscopeError } from '../../base/errors.js';
import { NotCompiled } from '../pipeline/kernel/not-compiled.js';
import { createPipelineKernel, type PipelineKernel } from '../pipeline/kernel/pipeline-kernel.js';
import { type Gem5Block, RETIRE, STAGES } from './block.js';
import { DebugFacts } from './facts.js';
import type { Gem5Reader, Gem5Visitor } from './reader.js';
import { GEM5_STAGES } from './types.js';
import { Windows } from './windows.js';

export interface Gem5Summary {
  readonly instructions: number;
  readonly squashed: number;
  /** Not ended as far as the log tells. */
  readonly unfinished: number;
  readonly microOps: number;
  readonly stores: number;
  readonly firstTick: number;
  readonly lastTick: number;
  /** Greatest common divisor of all ticks: the clock period, as far as the log tells; 0 for an empty log. */
  readonly tickStep: number;
  /** Instructions per entry of `leastFrom`. */
  readonly window: number;
  /** Least fetch tick of each window and all after it. */
  readonly leastFrom: Float64Array;
  /** An upper limit of the instructions in flight at a tick. */
  readonly inFlight: number;
  /** Objects of the CPUs; empty: no line names one. */
  readonly cpus: readonly string[];
  readonly maxThread: number;
  /** Lines of other debug flags about instructions; all other lines; lines of stages before the first fetch. */
  readonly debugLines: number;
  readonly otherLines: number;
  readonly earlyLines: number;
  /** Instructions that lack the line of a stage, and the first of them; null: none. */
  readonly damaged: { readonly count: number; readonly offset: number; readonly stage: string } | null;
  /** Whether compiled code can copy it: no line names an object or says something of another debug flag, and disassemblies are short. */
  readonly isPlain: boolean;
  /** CONVERT_TRUNCATED when the file ended early. */
  readonly cut: UscopeError | null;
}

/**
 * @param kernel compiled code that has done nothing yet; null: without it
 * @throws UscopeError CONVERT_*, except CONVERT_TRUNCATED, which is part of the answer
 */
export async function summarize(
  reader: Gem5Reader,
  signal?: AbortSignal,
  kernel = createPipelineKernel(),
): Promise<Gem5Summary> {
  if (!kernel) return summaryBy(new Scan(null), reader, signal);
  try {
    return await summaryBy(new Scan(kernel), reader, signal);
  } catch (error) {
    if (!(error instanceof NotCompiled)) throw error;
    return summaryBy(new Scan(null), reader, signal);
  }
}

async function summaryBy(
  scan: Scan,
  reader: Gem5Reader,
  signal: AbortSignal | undefined,
): Promise<Gem5Summary> {
  let cut: UscopeError | null = null;
  try {
    for await (const _ of reader.visit(scan)) signal?.throwIfAborted();
  } catch (error) {
    if (!isUscopeError(error) || error.code !== 'CONVERT_TRUNCATED') throw error;
    cut = error;
  }
  return scan.summary(cut);
}

/** When an instruction ends: with its retirement, or when the last unit squashed it; Infinity: the log does not say that it ends. */
export function endOf(block: Gem5Block, facts: DebugFacts): number {
  if (!block.isWhole) return Number.POSITIVE_INFINITY;
  let end = 0;
  for (let stage = 0; stage < STAGES; stage++) if (block.ticks[stage] > end) end = block.ticks[stage];
  if (block.ticks[RETIRE] > 0 || facts.taken === 0) return end;
  return Math.max(end, facts.of(facts.cpuOf(block), block)?.squashTick ?? 0);
}

/** Places in `struct scan` of sdk/kernel/pipeline/gem5_scan.c. */
const [INSTRUCTIONS, SQUASHED, MICRO_OPS, STORES, FIRST, LAST, STEP] = [0, 8, 16, 24, 32, 40, 48];
const [WINDOW, NUM_WINDOWS, WINDOWED, STARTS, ENDS, LONGEST] = [56, 60, 64, 72, 76, 80];
/** As sdk/kernel/pipeline/gem5_copy.c has it. */
const MOST_COMPILED_TEXT = 192;

class Scan implements Gem5Visitor {
  readonly isFull = false;
  private readonly facts = new DebugFacts();
  private readonly windows = new Windows();
  private instructions = 0;
  private squashed = 0;
  private unfinished = 0;
  private microOps = 0;
  private stores = 0;
  private first = Number.POSITIVE_INFINITY;
  private last = 0;
  private step = 0;
  private otherLines = 0;
  private earlyLines = 0;
  private damaged: { count: number; readonly offset: number; readonly stage: string } | null = null;
  readonly takeInstructions: Gem5Visitor['takeInstructions'];

  /** @param kernel takes what it can; then a log that is not plain ends in NotCompiled */
  constructor(private readonly kernel: PipelineKernel | null) {
    this.takeInstructions = kernel
      ? (bytes, from, end) => kernel.takeLines(bytes, from, end, kernel.code.gem5_scan)
      : undefined;
  }

  instruction(block: Gem5Block): Gem5Block {
    const fetch = block.ticks[0];
    if (this.kernel && block.object !== '') throw new NotCompiled();
    for (let stage = 0; stage < STAGES; stage++) this.tick(block, fetch, block.ticks[stage]);
    if (fetch < this.first) this.first = fetch;
    this.instructions++;
    const end = endOf(block, this.facts);
    if (this.kernel) this.kernel.code.gem5_scan_add(fetch, end, block.textLength);
    else this.windows.add(fetch, end);
    if (!block.isWhole) this.unfinished++;
    else if (block.isSquashed) this.squashed++;
    if (block.microPc > 0) this.microOps++;
    if (block.storeTick > 0) this.stores++;
    const { lacks } = block;
    if (lacks >= 0) {
      this.damaged ??= { count: 0, offset: block.offset, stage: GEM5_STAGES[lacks] };
      this.damaged.count++;
    }
    // A CPU that is named by nothing else.
    if (block.object !== '') this.facts.cpuOf(block);
    return block;
  }

  other(line: string): void {
    if (!this.facts.take(line)) this.otherLines++;
    else if (this.kernel) throw new NotCompiled();
  }

  early(): void {
    this.earlyLines++;
  }

  summary(cut: UscopeError | null): Gem5Summary {
    const { windows, longestText } = this.kernel ? this.addCompiled(this.kernel) : this.plain();
    const { instructions, squashed, unfinished, microOps, stores, facts } = this;
    const range = {
      firstTick: instructions === 0 ? 0 : this.first,
      lastTick: this.last,
      tickStep: this.step,
    };
    return {
      ...{ instructions, squashed, unfinished, microOps, stores, ...range },
      ...{ window: windows.size, leastFrom: windows.leastFrom, inFlight: windows.mostInFlight },
      ...{ cpus: facts.names, maxThread: facts.maxThread, debugLines: facts.taken },
      ...{ otherLines: this.otherLines, earlyLines: this.earlyLines, damaged: this.damaged, cut },
      isPlain: longestText <= MOST_COMPILED_TEXT,
    };
  }

  private plain() {
    return { windows: this.windows, longestText: Number.POSITIVE_INFINITY };
  }

  /** What compiled code has counted. */
  private addCompiled({ code, view }: PipelineKernel) {
    const at = code.gem5_scan_at();
    const count = (offset: number): number => Number(view.getBigUint64(at + offset, true));
    const doubles = (offset: number, length: number): Float64Array =>
      new Float64Array(view.buffer, view.getUint32(at + offset, true), length);
    this.instructions += count(INSTRUCTIONS);
    this.squashed += count(SQUASHED);
    this.microOps += count(MICRO_OPS);
    this.stores += count(STORES);
    this.first = Math.min(this.first, view.getFloat64(at + FIRST, true));
    this.last = Math.max(this.last, view.getFloat64(at + LAST, true));
    this.step = divisor(view.getFloat64(at + STEP, true), this.step);
    const length = view.getUint32(at + NUM_WINDOWS, true);
    const size = view.getUint32(at + WINDOW, true);
    const windows = Windows.of(size, count(WINDOWED), doubles(STARTS, length), doubles(ENDS, length));
    return { windows, longestText: view.getUint32(at + LONGEST, true) };
  }

  private tick(block: Gem5Block, fetch: number, tick: number): void {
    if (tick <= 0) return;
    // Nearly always a multiple already.
    if (this.step === 0 || Math.floor(tick / this.step) * this.step !== tick)
      this.step = divisor(tick, this.step);
    if (tick > this.last) this.last = tick;
    if (tick >= fetch) return;
    throw new UscopeError(
      'CONVERT_FORMAT',
      `instruction ${block.seq} is in a stage at tick ${tick}, before its fetch at ${fetch}`,
      { offset: block.offset },
    );
  }
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}
