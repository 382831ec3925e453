/** Fields of a trace from signals: types by width, values as they are sampled. */
import { wideFieldNames } from '../../../format/wide-fields.js';
import type { TypeName } from '../../../schema/index.js';
import type { FieldValue } from '../../../writer/records/values.js';
import type { FollowedPart, Run } from './run.js';

/** A field of the schema: one for up to 64 bits, several for more. */
export interface FieldPiece {
  readonly name: string;
  readonly type: TypeName;
  readonly part: FollowedPart;
}

export function piecesOf(name: string, part: FollowedPart): FieldPiece[] {
  if (part.kind !== 'bits') return [{ name, type: 'string', part }];
  if (part.width <= 64) return [{ name, type: typeFor(part.width), part }];
  return wideFieldNames(name, part.width).map((piece, index) => ({
    name: piece,
    type: 'u64',
    part: { ...part, from: part.from + 64 * index, width: Math.min(64, part.width - 64 * index) },
  }));
}

export function typeFor(width: number): TypeName {
  if (width === 1) return 'bool';
  if (width <= 8) return 'u8';
  if (width <= 16) return 'u16';
  return width <= 32 ? 'u32' : 'u64';
}

export const typesOf = (pieces: readonly FieldPiece[]): Record<string, TypeName> =>
  Object.fromEntries(pieces.map(({ name, type }) => [name, type]));

/** A function that gives the present value. */
export function readerOf(run: Run, { part }: FieldPiece): () => FieldValue {
  const { others } = run.store;
  if (part.kind !== 'bits') return () => String(others[part.signal]);
  const probe = run.probe(part);
  return () => {
    // A text or a real on bits is counted as that.
    if (probe.isUnknown() && others[part.signal] === '') run.unknown.count++;
    return probe.value();
  };
}

/** A field of a slot that follows a signal: it is written when the signal has another value at an edge. */
export class FollowedCells {
  private readonly pending: number[] = [];
  private readonly isPending: boolean[] = [];
  private readonly cells: {
    readonly slot: number;
    readonly field: number;
    readonly read: () => FieldValue;
  }[] = [];
  private readonly last: (FieldValue | undefined)[] = [];

  constructor(
    private readonly run: Run,
    private readonly storage: number,
    private readonly what: string,
  ) {}

  add(slot: number, field: number, piece: FieldPiece): void {
    const cell = this.cells.length;
    this.cells.push({ slot, field, read: readerOf(this.run, piece) });
    this.isPending.push(false);
    this.last.push(undefined);
    const touch = (): void => {
      if (this.isPending[cell]) return;
      this.isPending[cell] = true;
      this.pending.push(cell);
    };
    this.run.store.onChange(piece.part.signal, touch);
  }

  edge(): void {
    if (this.pending.length === 0) return;
    const tally = this.run.kept(`changes of ${this.what}`, 'SET');
    for (const index of this.pending) {
      this.isPending[index] = false;
      const { slot, field, read } = this.cells[index];
      const value = read();
      if (value === this.last[index]) continue;
      this.last[index] = value;
      this.run.set(this.storage, slot, field, value);
      tally.count++;
    }
    this.pending.length = 0;
  }
}
