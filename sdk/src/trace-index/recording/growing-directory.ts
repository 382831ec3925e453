/**
 * The directory of a trace while it is written: the levels grow with each segment, so that closing the trace reads nothing again. What they take in
 * memory is what the directory will take in the file, a part of a per cent of it.
 */
import { minOf } from '../../base/arrays.js';
import { isUscopeError } from '../../base/errors.js';
import { decodeIndexContainer } from '../../format/index-container.js';
import { type Levels, loadAddon } from '../../native/native-addon.js';
import type { IndexedFile } from '../../writer/contract/segment-indexer.js';
import { Places } from '../directory/places.js';
import { endedAtTop, type MadeDirectory } from '../directory/write-directory.js';
import { kernelLevels } from '../kernel/directory-kernel.js';
import { KernelLevels, type LevelCode } from '../made-levels/kernel-levels.js';
import { MAX_CYCLES } from '../made-levels/level-maker.js';
import type { IndexPlan } from '../plan.js';

const MAX_TIME_PS = (1n << 64n) - 1n;
/** A trace of days has larger levels: closing it reads the containers again. */
const MAX_BYTES = 32 * 1024 * 1024;

export class GrowingDirectory {
  private readonly sizes: number[] = [];
  private readonly births: (readonly (number | null)[])[] = [];
  private made: MadeDirectory | null = null;

  private constructor(
    private readonly plan: IndexPlan,
    /** null: they have failed, or are too large. */
    private levels: KernelLevels | null,
    private readonly startPs: bigint,
    /** The levels are for traces up to here. */
    private readonly limitPs: bigint,
    private readonly maxBytes: number,
  ) {}

  /** Before the first segment, which starts at `startPs`. null: nothing of it is counted, there is no compiled code, or the schema is too large. */
  static open(plan: IndexPlan, startPs: bigint, maxBytes = MAX_BYTES): GrowingDirectory | null {
    const shortest = minOf(plan.groups.map(({ periodPs }) => periodPs));
    if (!Number.isFinite(shortest)) return null;
    const counted = BigInt(shortest) * MAX_CYCLES;
    const limitPs = counted < MAX_TIME_PS ? counted : MAX_TIME_PS;
    const levels = levelsOf(plan, startPs, limitPs);
    return levels && new GrowingDirectory(plan, levels, startPs, limitPs, maxBytes);
  }

  /** The container of the next segment, as it is stored; null: it has none. */
  add(container: Uint8Array | null): void {
    if (!this.levels) return;
    const births = this.levels.add(partsOf(container, this.plan));
    if (births === null || this.levels.bytes > this.maxBytes) this.levels = null;
    this.sizes.push(container?.length ?? 0);
    this.births.push(births ?? []);
  }

  /** null: the file has other segments, or the compiled code has no room for its numbers. The same for each call. */
  finish({ segments, startPs, endPs, containerEnd }: IndexedFile): MadeDirectory | null {
    if (!this.levels || segments !== this.sizes.length || startPs !== this.startPs || endPs > this.limitPs)
      return null;
    if (this.made) return this.made;
    const lists = this.levels.finish(endPs);
    if (!lists) this.levels = null;
    if (!lists) return null;
    const places = new Places(this.plan.cores.length, segments);
    this.sizes.forEach((size, segment) => {
      const place = size > 0 ? { offset: containerEnd(segment) - size, size } : null;
      places.add(segment, place, this.births[segment]!);
    });
    this.made = { places, lists: endedAtTop(lists, this.plan) };
    return this.made;
  }
}

function levelsOf(plan: IndexPlan, startPs: bigint, limitPs: bigint): KernelLevels | null {
  const native = NativeLevels.open(plan, startPs, limitPs);
  if (native) return new KernelLevels(native, plan, limitPs);
  return kernelLevels({ plan, startPs, endPs: limitPs });
}

function partsOf(container: Uint8Array | null, plan: IndexPlan) {
  try {
    const decoded = container && decodeIndexContainer(container, 0, null);
    return decoded?.planCrc === plan.crc ? decoded.parts : null;
  } catch (error) {
    if (isUscopeError(error)) return null;
    throw error;
  }
}

/** The addon's code. */
class NativeLevels implements LevelCode {
  private constructor(
    private readonly addon: NonNullable<ReturnType<typeof loadAddon>>,
    private readonly handle: Levels,
  ) {}

  /** null: there is no addon, or the schema is too large. */
  static open({ words }: IndexPlan, startPs: bigint, endPs: bigint): NativeLevels | null {
    const addon = loadAddon();
    const handle = addon?.openLevels(words, ...halves(startPs), ...halves(endPs)) ?? null;
    return addon && handle && new NativeLevels(addon, handle);
  }

  add(parts: Uint8Array, count: number): Uint8Array | null {
    return bytesOf(this.addon.levelsAdd(this.handle, parts, count));
  }

  finish(endPs: bigint): Uint8Array | null {
    return bytesOf(this.addon.levelsFinish(this.handle, ...halves(endPs)));
  }
}

const bytesOf = (made: ArrayBuffer | null): Uint8Array | null => made && new Uint8Array(made);

function halves(time: bigint): [lo: number, hi: number] {
  return [Number(time & 0xffff_ffffn), Number(time >> 32n)];
}
