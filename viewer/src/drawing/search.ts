/** Looks for instructions through all segments, in slices that leave time for drawing. Whatever is missing is asked for, one segment after the other. */
import { NoteKind, type RowBlock } from '../model/blocks.js';
import { notesOf, pcOf } from '../model/row.js';
import type { Disassembly } from './labels.js';
import type { SearchState } from './protocol.js';
import type { RowStore } from './row-store.js';

const SLICE_MS = 8;
/** Instructions between two looks at the clock. */
const ROWS_PER_LOOK = 256;
/** Results of the expression that are kept: most instructions are executed many times. */
const MAX_KNOWN = 65_536;

export interface SearchListener {
  found(row: number): void;
  /** Something else about the state has changed. */
  changed(): void;
}

export class Search {
  private readonly expression: RegExp | null;
  private readonly problem: string | null;
  private readonly known = new Map<string, boolean>();
  private status: SearchState['status'] = 'stopped';
  private listener: SearchListener | null = null;
  private direction: 1 | -1 = 1;
  private segment = 0;
  /** Index in the segment's block of the next to look at; null: the first in this direction. */
  private index: number | null = null;
  /** Segments looked through; the first one is looked at twice, its other part at last. */
  private visited = 0;
  private timer = 0;

  constructor(
    private readonly pattern: string,
    private readonly store: RowStore,
    private readonly disassembly: Disassembly,
  ) {
    const { expression, problem } = compile(pattern);
    this.expression = expression;
    this.problem = problem;
    if (problem !== null) this.status = 'bad';
  }

  get state(): SearchState {
    const { pattern, status, problem, visited, store } = this;
    return { pattern, status, problem, progress: Math.min(1, visited / Math.max(1, store.segments)) };
  }

  /** The segment that it waits for. */
  get missing(): number | null {
    return this.status === 'searching' && !this.store.has(this.segment) ? this.segment : null;
  }

  matches(block: RowBlock, index: number): boolean {
    if (!this.expression) return false;
    const notes = notesOf(block, index, NoteKind.ANNOTATION).map(({ text }) => text);
    const text = [pcOf(block, index) ?? '', this.disassembly.of(block, index), ...notes].join(' ');
    let result = this.known.get(text);
    if (result === undefined) {
      if (this.known.size >= MAX_KNOWN) this.known.clear();
      result = this.expression.test(text);
      this.known.set(text, result);
    }
    return result;
  }

  /** @param start row behind or before which it begins */
  begin(start: number, direction: 1 | -1, listener: SearchListener): void {
    if (!this.expression) return;
    clearTimeout(this.timer);
    this.status = 'searching';
    this.listener = listener;
    this.direction = direction;
    this.visited = 0;
    const place = this.store.locate(start);
    this.segment = place?.block.segment ?? this.store.segmentOfRow(start);
    this.index = place ? place.index + direction : null;
    this.resume();
  }

  stop(): void {
    clearTimeout(this.timer);
    if (this.status === 'searching') this.status = 'stopped';
  }

  /** After a block has come. */
  resume(): void {
    if (this.status === 'searching') this.slice();
  }

  private slice(): void {
    clearTimeout(this.timer);
    const until = performance.now() + SLICE_MS;
    while (this.status === 'searching' && performance.now() < until) {
      const block = this.store.block(this.segment);
      if (!block) {
        // It is asked for with the next picture; `resume` goes on.
        this.listener?.changed();
        return;
      }
      const found = this.look(block);
      if (found !== null) {
        this.status = 'found';
        this.listener?.found(found);
      }
    }
    this.listener?.changed();
    if (this.status === 'searching') this.timer = setTimeout(() => this.slice()) as unknown as number;
  }

  /** Some rows of a block. @returns the row found; null: none yet */
  private look(block: RowBlock): number | null {
    const { direction } = this;
    let index = this.index ?? (direction > 0 ? 0 : block.count - 1);
    for (let left = ROWS_PER_LOOK; left > 0 && index >= 0 && index < block.count; left--) {
      if (this.matches(block, index)) return block.firstRow + index;
      index += direction;
    }
    this.index = index;
    if (index < 0 || index >= block.count) this.advance();
    return null;
  }

  private advance(): void {
    const { segments } = this.store;
    this.index = null;
    this.segment = (this.segment + this.direction + segments) % segments;
    if (++this.visited > segments) this.status = 'none';
  }
}

function compile(pattern: string): { expression: RegExp | null; problem: string | null } {
  try {
    return { expression: new RegExp(pattern, 'iu'), problem: null };
  } catch (error) {
    return { expression: null, problem: (error as Error).message };
  }
}
