/** The levels of a directory by the kernel (sdk/kernel/index/directory.h). */
import { IndexPart, type IndexPartBytes } from '../../format/index-container.js';
import type { IndexPlan } from '../plan.js';
import { type LevelMaker, listCount } from './level-maker.js';
import { LevelPieces } from './level-pieces.js';

const PART_ENTRY_BYTES = 16;
const PIECE_HEAD_BYTES = 32;
/** What the levels are made of. */
const KINDS: ReadonlySet<number> = new Set([
  IndexPart.TIME,
  IndexPart.ROWS,
  IndexPart.PCS,
  IndexPart.STRINGS,
]);

/** The compiled code with its memory. What it puts out is that of directory.h, valid until the next call; null: it cannot be made this way. */
export interface LevelCode {
  /** @param parts `count` entries (struct given_part) and their bytes */
  add(parts: Uint8Array, count: number): Uint8Array | null;
  /** Of the next list. @param endPs end of the trace */
  finish(endPs: bigint): Uint8Array | null;
}

export class KernelLevels implements LevelMaker {
  private readonly lists: readonly LevelPieces[];
  private readonly cores: number;
  /** Put out so far. */
  bytes = 0;

  constructor(
    private readonly code: LevelCode,
    plan: Pick<IndexPlan, 'groups' | 'cores'>,
    private readonly endPs: bigint,
  ) {
    this.cores = plan.cores.length;
    this.lists = Array.from({ length: listCount(plan) }, () => new LevelPieces());
  }

  add(parts: readonly IndexPartBytes[] | null): readonly (number | null)[] | null {
    const { cores } = this;
    const wanted = (parts ?? []).filter(({ kind }) => KINDS.has(kind));
    const made = this.code.add(given(wanted), wanted.length);
    if (!made) return null;
    const view = viewOf(made);
    const births = Array.from({ length: cores }, (_, core) => view.getFloat64(core * 8, true));
    this.take(made, cores * 8);
    return births.map((count) => (Number.isNaN(count) ? null : count));
  }

  finish(endPs = this.endPs): readonly LevelPieces[] | null {
    for (const _ of this.lists) {
      const made = this.code.finish(endPs);
      if (!made) return null;
      this.take(made, 0);
    }
    return this.lists;
  }

  /** The pieces that were put out, from an offset on. */
  private take(made: Uint8Array, offset: number): void {
    const view = viewOf(made);
    this.bytes += made.length - offset;
    for (let at = offset; at < made.length; ) {
      const word = (index: number) => view.getUint32(at + index * 4, true);
      const [list, level, rows, size] = [word(0), word(1), word(2), word(3)];
      const [first, end] = [view.getFloat64(at + 16, true), view.getFloat64(at + 24, true)];
      const pieces = this.lists[list]!;
      const bytes = made.slice(at + PIECE_HEAD_BYTES, at + PIECE_HEAD_BYTES + size);
      if (level === 0) pieces.clear();
      else pieces.add({ level, first, end, rows, bytes });
      at += PIECE_HEAD_BYTES + Math.ceil(size / 8) * 8;
    }
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** The parts as the code takes them. */
function given(parts: readonly IndexPartBytes[]): Uint8Array {
  const head = parts.length * PART_ENTRY_BYTES;
  const given = new Uint8Array(parts.reduce((sum, { bytes }) => sum + bytes.length, head));
  const entries = new Uint32Array(given.buffer, 0, parts.length * 4);
  let offset = head;
  parts.forEach(({ kind, subject, bytes }, index) => {
    entries.set([kind, subject, offset, bytes.length], index * 4);
    given.set(bytes, offset);
    offset += bytes.length;
  });
  return given;
}
