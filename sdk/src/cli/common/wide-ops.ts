/** Ops that set all pieces of a wide field (docs/reference/format.md#wide-fields), one after the other in a frame, are printed as one op. */
import type { FrameCursor } from '../../format/frame.js';
import { Action, type FieldDef } from '../../format/types.js';
import { joinPieces, type LogicalField, logicalFields, wideText } from '../../format/wide-fields.js';
import type { Trace } from '../../reader/index.js';

/** Prints one op on a wide field. */
export type WideOpFormat = (target: WideOp, value: string) => string;

export interface WideOp {
  readonly time: string;
  readonly storageId: number;
  /** null: a property. */
  readonly slot: number | null;
  readonly field: string;
}

interface Begun extends WideOp {
  readonly logical: LogicalField;
  /** Indices of its fields in the schema; `values` has those of the first ones. */
  readonly indices: readonly number[];
  readonly values: bigint[];
  /** The ops as they are, for a value that is set in part. */
  readonly lines: string[];
}

type WideByFirst = ReadonlyMap<number, LogicalField>;

export class WideOps {
  private readonly storages: readonly { readonly fields: WideByFirst; readonly properties: WideByFirst }[];
  private begun: Begun | null = null;

  private constructor(
    trace: Trace,
    private readonly format: WideOpFormat,
    private readonly print: (line: string) => void,
  ) {
    this.storages = trace.schema.storages.map(({ fields, properties }) => ({
      fields: wideByFirst(fields),
      properties: wideByFirst(properties),
    }));
  }

  /** null: no storage of the trace has a wide field. */
  static of(trace: Trace, format: WideOpFormat, print: (line: string) => void): WideOps | null {
    const ops = new WideOps(trace, format, print);
    const hasWide = ops.storages.some(({ fields, properties }) => fields.size + properties.size > 0);
    return hasWide ? ops : null;
  }

  /** @param line the op by itself */
  op(cursor: FrameCursor, time: string, line: string): void {
    if (this.continues(cursor)) {
      this.take(cursor, line);
      return;
    }
    this.flush();
    this.begun = this.begin(cursor, time);
    if (this.begun) this.take(cursor, line);
    else this.print(line);
  }

  /** Before anything else is printed, and at the end of a frame. */
  flush(): void {
    const { begun } = this;
    this.begun = null;
    for (const line of begun?.lines ?? []) this.print(line);
  }

  private begin(cursor: FrameCursor, time: string): Begun | null {
    const { action, storageId, field, slot } = cursor;
    if (action !== Action.SET && action !== Action.PROP_SET) return null;
    const isProperty = action === Action.PROP_SET;
    const { fields, properties } = this.storages[storageId];
    const logical = (isProperty ? properties : fields).get(field);
    if (!logical) return null;
    const indices = [...logical.pieces, ...logical.unknown];
    const target = { time, storageId, slot: isProperty ? null : slot, field: logical.name };
    return { ...target, logical, indices, values: [], lines: [] };
  }

  private continues({ action, storageId, slot, field }: FrameCursor): boolean {
    const { begun } = this;
    if (begun === null || begun.storageId !== storageId) return false;
    const isSame =
      begun.slot === null ? action === Action.PROP_SET : action === Action.SET && begun.slot === slot;
    return isSame && begun.indices[begun.values.length] === field;
  }

  private take(cursor: FrameCursor, line: string): void {
    const { begun } = this;
    if (!begun) return;
    begun.values.push(cursor.value);
    begun.lines.push(line);
    if (begun.values.length < begun.indices.length) return;
    this.begun = null;
    const { logical, indices, values } = begun;
    this.print(
      this.format(
        begun,
        wideValueText(logical, (index) => values[indices.indexOf(index)]),
      ),
    );
  }
}

function wideByFirst(fields: readonly FieldDef[]): WideByFirst {
  const wide = fieldsWithWide(fields)?.filter(({ bits }) => bits > 0) ?? [];
  return new Map(wide.map((field) => [field.pieces[0], field]));
}

/** Wide fields, shown as one value under one name. Null where none is wide, so that the usual way stays quick. */
export function fieldsWithWide(fields: readonly FieldDef[]): readonly LogicalField[] | null {
  const logical = logicalFields(fields);
  return logical.length === fields.length ? null : logical;
}

/** @param piece the value of a field of the schema */
export function wideValueText(
  { bits, pieces, unknown }: LogicalField,
  piece: (index: number) => bigint,
): string {
  return wideText(bits, joinPieces(pieces.map(piece)), joinPieces(unknown.map(piece)));
}
