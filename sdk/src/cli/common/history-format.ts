/** Changes as lines: JSON for programs, text for people. */
import type { StorageDef } from '../../format/types.js';
import type { Change, Trace } from '../../reader/index.js';
import { paint } from './io.js';
import { halves, ValueFormat } from './values.js';

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
  async loadStrings(change: Change): Promise<void> {
    const formats = this.formatsOf(change.def);
    const wanted = valuesOf(change).flatMap(({ index, value }) => {
      const format = change.kind === 'property' ? formats.properties[index] : formats.fields[index];
      return format.isStringRef ? [Number(value)] : [];
    });
    if (wanted.length > 0) await this.trace.strings.load(new Set(wanted));
  }

  json(change: Change): string {
    const { def, storage, timePs } = change;
    const { fields, properties, periodPs } = this.formatsOf(def);
    const cycle = periodPs > 0n ? `"${timePs / periodPs}"` : 'null';
    const head = `{"t":"${timePs}","cycle":${cycle},"storage":${JSON.stringify(storage)}`;
    if (change.kind === 'clear') {
      const members = [...change.before].map(
        ([index, value]) => `${JSON.stringify(def.fields[index].name)}:${json(fields[index], value)}`,
      );
      return `${head},"slot":${change.slot},"op":"clear","before":{${members.join(',')}}}\n`;
    }
    const isProperty = change.kind === 'property';
    const format = isProperty ? properties[change.property] : fields[change.field];
    const slot = isProperty ? '' : `,"slot":${change.slot}`;
    const before = !isProperty && change.taken ? 'null' : json(format, change.before);
    const op = isProperty ? 'prop' : change.kind;
    const name = JSON.stringify(format.field.name);
    return `${head}${slot},"op":"${op}","field":${name},"before":${before},"after":${json(format, change.after)}}\n`;
  }

  text(change: Change): string {
    const { def, storage, timePs } = change;
    const { fields, properties, periodPs } = this.formatsOf(def);
    const cycle = periodPs > 0n ? `  cycle ${timePs / periodPs}` : '';
    const at = paint('dim', `${timePs} ps${cycle}`);
    if (change.kind === 'clear') {
      const members = [...change.before].map(
        ([index, value]) => `${def.fields[index].name}=${text(fields[index], value)}`,
      );
      return `${at}  ${storage}[${change.slot}]  cleared (${members.join(' ')})\n`;
    }
    const isProperty = change.kind === 'property';
    const format = isProperty ? properties[change.property] : fields[change.field];
    const place = isProperty ? storage : `${storage}[${change.slot}]`;
    const before = !isProperty && change.taken ? 'free' : text(format, change.before);
    return `${at}  ${place}.${format.field.name}  ${before} -> ${text(format, change.after)}\n`;
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
