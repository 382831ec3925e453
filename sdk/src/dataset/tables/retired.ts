/**
 * How many instructions of a core retired in each cycle: what the table `cycles` counts. Instructions come in the order of birth, so that cycles are nearly
 * in order: a few windows of them are in memory, the others in a file.
 */
import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { BlockEnd, endOf, type InstructionBlock } from '../../semantics/blocks/block.js';
import { cyclesOf } from '../../semantics/blocks/cycles.js';
import type { CpuCore } from '../../semantics/cpu/index.js';

const WINDOW = 1 << 16;
const BYTES = WINDOW * 4;
const IN_MEMORY = 16;

export class RetiredCounts {
  /** By number of the window, the one used longest ago first. */
  private readonly windows = new Map<number, Uint32Array>();
  /** Places in the file, by number of the window. */
  private readonly places = new Map<number, number>();
  private file: number | null = null;
  private last = -1;
  private counts: Uint32Array = new Uint32Array(0);

  /** @param path of the file, which is only made when it is needed */
  constructor(
    private readonly core: CpuCore,
    private readonly path: string,
  ) {}

  add(block: InstructionBlock): void {
    const cycle = cyclesOf(block, this.core.periodPs);
    for (let row = 0; row < block.count; row++) {
      if (endOf(block, row) !== BlockEnd.RETIRED) continue;
      const at = cycle(block.end[row]);
      this.enter(Math.floor(at / WINDOW));
      this.counts[at % WINDOW]++;
    }
  }

  at(cycle: number): number {
    this.enter(Math.floor(cycle / WINDOW));
    return this.counts[cycle % WINDOW];
  }

  close(): void {
    if (this.file === null) return;
    closeSync(this.file);
    this.file = null;
    rmSync(this.path, { force: true });
  }

  private enter(window: number): void {
    if (window === this.last) return;
    this.last = window;
    this.counts = this.windows.get(window) ?? this.read(window);
    this.windows.delete(window);
    this.windows.set(window, this.counts);
    if (this.windows.size <= IN_MEMORY) return;
    const [oldest] = this.windows.keys();
    this.write(oldest);
    this.windows.delete(oldest);
  }

  private read(window: number): Uint32Array {
    const counts = new Uint32Array(WINDOW);
    const place = this.places.get(window);
    if (place !== undefined && this.file !== null) {
      const bytes = new Uint8Array(counts.buffer);
      for (let at = 0; at < BYTES; ) at += readSync(this.file, bytes, at, BYTES - at, place + at);
    }
    return counts;
  }

  private write(window: number): void {
    this.file ??= openSync(this.path, 'wx+', 0o600);
    const place = this.places.get(window) ?? this.places.size * BYTES;
    this.places.set(window, place);
    const bytes = new Uint8Array((this.windows.get(window) ?? new Uint32Array(WINDOW)).buffer);
    for (let at = 0; at < BYTES; ) at += writeSync(this.file, bytes, at, BYTES - at, place + at);
  }
}
