/**
 * The memory of the daemon, of which everything that a peer can ask for is granted a part before it costs anything, or is refused. What the
 * process takes for itself (program, its own heap) is not counted.
 */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { UscopeError } from '../../base/errors.js';
import { formatBytes } from '../../base/units.js';
import { forgetMemory } from '../../writer/compression/compression-pool.js';
import type { WriterBudget } from '../../writer/frames/memory-need.js';
import { dropIdleMemories, unusedWriterBytes } from '../../writer/frames/writer-memory.js';

/** Rounds in which garbage is collected before a grant is refused: what was dropped in one is finalized after it. */
const COLLECTIONS = 3;

/** Of a grant, for messages. */
interface Purpose {
  readonly what: string;
  readonly remedy: string;
}

/** What the account lends to. */
export class MemoryGrant implements WriterBudget {
  private held = 0;
  private isOver = false;

  constructor(
    private readonly account: MemoryAccount,
    private readonly purpose: Purpose,
  ) {}

  get bytes(): number {
    return this.held;
  }

  async grant(bytes: number): Promise<void> {
    await this.account.makeRoom(bytes);
    this.extend(bytes);
  }

  /** @throws UscopeError BRIDGE_NO_MEMORY */
  extend(bytes: number): void {
    if (this.isOver) return;
    this.account.take(bytes, this.purpose);
    this.held += bytes;
  }

  /** Gives everything back; nothing is counted any more. */
  release(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.account.giveBack(this.held);
    this.held = 0;
  }
}

export class MemoryAccount {
  private granted = 0;

  /** @param limit bytes */
  constructor(readonly limit: number) {}

  /** Granted, and what writers that are over have left and the process still holds. */
  get used(): number {
    return this.granted + unusedWriterBytes();
  }

  get free(): number {
    return Math.max(0, this.limit - this.used);
  }

  /**
   * @param what names it in messages: `the trace "core0"`
   * @param remedy what makes it less
   */
  open(what: string, remedy = 'reduce the slots or fields of its schema'): MemoryGrant {
    return new MemoryGrant(this, { what, remedy });
  }

  /** Returns unused memory to the machine when this number of bytes is not free. */
  async makeRoom(bytes: number): Promise<void> {
    // What can never be granted is not a reason to give anything up.
    if (this.granted + bytes > this.limit) return;
    for (let round = 0; round < COLLECTIONS && bytes > this.free; round++) {
      giveUpIdle();
      collectGarbage();
      await new Promise((resolve) => setTimeout(resolve));
    }
  }

  /** Use a grant. @throws UscopeError BRIDGE_NO_MEMORY */
  take(bytes: number, purpose: Purpose): void {
    const { used, limit } = this;
    if (used + bytes > limit) throw noMemory(purpose, bytes, used, limit);
    this.granted += bytes;
  }

  /** Use a grant. */
  giveBack(bytes: number): void {
    this.granted -= bytes;
  }
}

/** By itself: the code that collects garbage must not hold what is to be collected. */
function giveUpIdle(): void {
  for (const { memory } of dropIdleMemories()) forgetMemory(memory);
}

function noMemory({ what, remedy }: Purpose, bytes: number, used: number, limit: number): UscopeError {
  const wait = bytes > limit ? '' : 'wait for other traces to end, ';
  return new UscopeError(
    'BRIDGE_NO_MEMORY',
    `${what} needs ${formatBytes(bytes)}; ${formatBytes(used)} of the ${formatBytes(limit)} that this daemon may use are taken: ${wait}${remedy}, or start the daemon with a larger --max-memory`,
  );
}

let collect: (() => void) | null = null;

/** To V8, memory outside its heap is next to nothing: it collects such garbage late. */
export function collectGarbage(): void {
  if (collect === null) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  collect();
}
