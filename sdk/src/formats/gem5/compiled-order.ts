/**
 * A log into a trace by compiled code (sdk/kernel/pipeline/gem5_copy.c). `InOrder` (order.ts) with `TraceCopy` is the reference, which also
 * takes logs with lines of other debug flags.
 */
import { UscopeError } from '../../base/errors.js';
import type { Schema } from '../../format/types.js';
import { FLUSH_REASON, pipelineIds } from '../pipeline/core-records.js';
import { tooManyInFlight } from '../pipeline/errors.js';
import type { PipelineKernel } from '../pipeline/kernel/pipeline-kernel.js';
import { DEPENDENCY_TYPES, type PipelineShape } from '../pipeline/shape.js';
import { type Gem5Block, STAGES } from './block.js';
import type { Order } from './order.js';
import type { Gem5Summary } from './summary.js';
import type { talliesOf } from './tallies.js';

/** Places in `struct block`. */
const [STORE_TICK, SEQ, PC, MICRO_PC, IS_WHOLE, SIZE, TEXT] = [56, 64, 72, 80, 88, 92, 96];
/** Places in `struct copy`. */
const [STATUS, COUNTS] = [12, 24];

/** In the order of `enum status`. */
enum Status {
  DONE,
  FULL,
  TOO_MANY_IN_FLIGHT,
  LONG_TEXT,
  NO_MEMORY,
}

export class CompiledOrder implements Order {
  /** What is complete has not all happened: records are to be pushed. */
  isFull = false;
  private readonly at: number;

  constructor(
    private readonly kernel: PipelineKernel,
    { window, leastFrom }: Gem5Summary,
    schema: Schema,
    private readonly shape: PipelineShape,
    private readonly onOther: () => void,
    private readonly onEarly: () => void,
  ) {
    kernel.setCore(pipelineIds(schema, shape.cores[0]), shape.slots, FLUSH_REASON, DEPENDENCY_TYPES.length);
    this.at = kernel.code.gem5_copy_at();
    const limits = kernel.code.gem5_copy_limits(leastFrom.length, window);
    new Float64Array(kernel.view.buffer, limits, leastFrom.length).set(leastFrom);
  }

  takeInstructions(bytes: Uint8Array, from: number, end: number): number {
    const { kernel } = this;
    const at = kernel.takeLines(bytes, from, end, kernel.code.gem5_copy);
    this.note(kernel.view.getUint32(this.at + STATUS, true));
    return at;
  }

  instruction(block: Gem5Block): Gem5Block {
    const { code } = this.kernel;
    const text = this.kernel.putText(block.text, 0, block.textLength);
    const { view } = this.kernel;
    const at = code.gem5_block_at();
    for (let stage = 0; stage < STAGES; stage++) view.setFloat64(at + 8 * stage, block.ticks[stage], true);
    view.setFloat64(at + STORE_TICK, block.storeTick, true);
    view.setBigUint64(at + SEQ, BigInt(block.seq), true);
    view.setBigUint64(at + PC, BigInt(block.pc), true);
    view.setBigUint64(at + MICRO_PC, BigInt(block.microPc), true);
    view.setUint32(at + IS_WHOLE, block.isWhole ? 1 : 0, true);
    view.setUint32(at + SIZE, block.textLength, true);
    view.setUint32(at + TEXT, text, true);
    this.note(code.gem5_copy_block());
    this.advance();
    return block;
  }

  other(): void {
    this.onOther();
  }

  early(): void {
    this.onEarly();
  }

  advance(): boolean {
    return this.note(this.kernel.code.gem5_advance(0));
  }

  finish(): boolean {
    return this.note(this.kernel.code.gem5_advance(1));
  }

  /** After the last instruction. */
  count(tallies: ReturnType<typeof talliesOf>): void {
    const { view } = this.kernel;
    const { begun, stages, labels, retired, flushed, storeTicks, lastStages } = tallies;
    for (const [index, tally] of [begun, stages, labels, retired, flushed, storeTicks].entries())
      tally.count += Number(view.getBigUint64(this.at + COUNTS + 8 * index, true));
    lastStages.count += flushed.count;
  }

  /** @returns whether something is left @throws UscopeError */
  private note(status: Status): boolean {
    this.isFull = status === Status.FULL;
    if (status === Status.DONE || status === Status.FULL) return this.isFull;
    if (status === Status.TOO_MANY_IN_FLIGHT) throw tooManyInFlight(this.shape.slots);
    if (status === Status.LONG_TEXT)
      throw new UscopeError('CONVERT_SOURCE', 'the log changed while it was read: a disassembly is longer');
    throw new UscopeError(
      'CONVERT_LIMIT',
      'no memory for the instructions that the log has in another order than that of their fetches',
    );
  }
}
