/** Changes as lines: JSON for programs, text for people. */
import { onOneLine } from '../../base/printable.js';
import type { StorageDef } from '../../format/types.js';
import { logicalFields } from '../../format/wide-fields.js';
import type { Change, SlotCleared, Trace, WideChange } from '../../reader/index.js';
import { paint } from './io.js';
import { halves, ValueFormat } from './values.js';
import { wideValueText } from './wide-ops.js';

interface Formats {
  readonly fields: readonly ValueFormat[];
  readonly properties: readonly ValueFormat[];
  /** 0n: there are no cycles. */
  readonly periodPs: bigint;
}

export class HistoryFormat {
  private readonly known = new Map<number, Formats>();

  constructor(private readonly trace: Trace) {}

  /** Brings the strings that a change names into memory, so that it can be printed. */
  async loadStrings(change: Change | WideChange): Promise<void> {
    if (change.kind === 'wide') return;
    const formats = this.formatsOf(change.def);
    const wanted = valuesOf(change).flatMap(({ index, value }) => {
      const format = change.kind === 'property' ? formats.properties[index] : formats.fields[index];
      return format.isStringRef ? [Number(value)] : [];
    });
    if (wanted.length > 0) await this.trace.strings.load(new Set(wanted));
  }

  json(change: Change | WideChange): string {
    const { def, storage, timePs } = change;
    const { fields, properties, periodPs } = this.formatsOf(def);
    const cycle = periodPs > 0n ? `"${timePs / periodPs}"` : 'null';
    const head = `{"t":"${timePs}","cycle":${cycle},"storage":${JSON.stringify(storage)}`;
    if (change.kind === 'clear') {
      const members = cleared(change, (index, value) => json(fields[index], value), JSON.stringify).map(
        ([name, value]) => `${JSON.stringify(name)}:${value}`,
      );
      return `${head},"slot":${change.slot},"op":"clear","before":{${members.join(',')}}}\n`;
    }
    if (change.kind === 'wide') {
      const slot = change.slot === null ? '' : `,"slot":${change.slot}`;
      const op = change.slot === null ? 'prop' : 'set';
      const before = change.taken ? 'null' : JSON.stringify(wideOf(change, change.before));
      const after = JSON.stringify(wideOf(change, change.after));
      return `${head}${slot},"op":"${op}","field":${JSON.stringify(change.field.name)},"before":${before},"after":${after}}\n`;
    }
    const isProperty = change.kind === 'property';
    const format = isProperty ? properties[change.property] : fields[change.field];
    const slot = isProperty ? '' : `,"slot":${change.slot}`;
    const before = !isProperty && change.taken ? 'null' : json(format, change.before);
    const op = isProperty ? 'prop' : change.kind;
    const name = JSON.stringify(format.field.name);
    return `${head}${slot},"op":"${op}","field":${name},"before":${before},"after":${json(format, change.after)}}\n`;
  }

  text(change: Change | WideChange): string {
    const { def, timePs } = change;
    const storage = onOneLine(change.storage);
    const { fields, properties, periodPs } = this.formatsOf(def);
    const cycle = periodPs > 0n ? `  cycle ${timePs / periodPs}` : '';
    const at = paint('dim', `${timePs} ps${cycle}`);
    if (change.kind === 'clear') {
      const members = cleared(change, (index, value) => text(fields[index], value), String).map(
        ([name, value]) => `${onOneLine(name)}=${value}`,
      );
      return `${at}  ${storage}[${change.slot}]  cleared (${members.join(' ')})\n`;
    }
    if (change.kind === 'wide') {
      const place = change.slot === null ? storage : `${storage}[${change.slot}]`;
      const before = change.taken ? 'free' : wideOf(change, change.before);
      return `${at}  ${place}.${onOneLine(change.field.name)}  ${before} -> ${wideOf(change, change.after)}\n`;
    }
    const isProperty = change.kind === 'property';
    const format = isProperty ? properties[change.property] : fields[change.field];
    const place = isProperty ? storage : `${storage}[${change.slot}]`;
    const before = !isProperty && change.taken ? 'free' : text(format, change.before);
    return `${at}  ${place}.${format.name}  ${before} -> ${text(format, change.after)}\n`;
  }

  private formatsOf(def: StorageDef): Formats {
    const known = this.known.get(def.storageId);
    if (known) return known;
    const { schema, strings } = this.trace;
    const formats = {
      fields: def.fields.map((field) => new ValueFormat(field, schema, strings)),
      properties: def.properties.map((field) => new ValueFormat(field, schema, strings)),
      periodPs: BigInt(this.trace.clockOf(def.scopeId)?.periodPs ?? 0),
    };
    this.known.set(def.storageId, formats);
    return formats;
  }
}

/** The values that a cleared slot had, wide ones as one where all of their pieces are followed. */
function cleared(
  { def, before }: SlotCleared,
  shown: (index: number, value: bigint) => string,
  quoted: (text: string) => string,
): (readonly [name: string, value: string])[] {
  return logicalFields(def.fields).flatMap((field) => {
    const indices = [...field.pieces, ...field.unknown].filter((index) => before.has(index));
    if (field.bits > 0 && indices.length === field.pieces.length + field.unknown.length)
      return [[field.name, quoted(wideValueText(field, (index) => before.get(index) ?? 0n))] as const];
    return indices.map((index) => [def.fields[index].name, shown(index, before.get(index) ?? 0n)] as const);
  });
}

/** @param values by piece */
function wideOf({ field }: WideChange, values: readonly bigint[]): string {
  const { pieces, unknown } = field;
  const indices = [...pieces, ...unknown];
  return wideValueText(field, (index) => values[indices.indexOf(index)]);
}

function valuesOf(change: Change): { index: number; value: bigint }[] {
  if (change.kind === 'clear') return [...change.before].map(([index, value]) => ({ index, value }));
  const index = change.kind === 'property' ? change.property : change.field;
  return [change.before, change.after].map((value) => ({ index, value }));
}

function json(format: ValueFormat, value: bigint): string {
  return format.json(...halves(value));
}

function text(format: ValueFormat, value: bigint): string {
  return format.text(...halves(value));
}
