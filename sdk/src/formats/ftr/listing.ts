/** Records of a file as lines, for people and as JSON. */
import { toHex } from '../../base/hex.js';
import { shownText } from './dictionary.js';
import type { Declaration } from './model.js';
import {
  type FtrAttribute,
  type FtrInfo,
  type FtrRelation,
  type FtrText,
  type FtrTransaction,
  PHASE_NAMES,
  TYPE_NAMES,
} from './types.js';

export const quoted = (text: FtrText): string => JSON.stringify(shownText(text));

export function createdAt({ epoch }: FtrInfo): string | null {
  if (epoch === null) return null;
  const date = new Date(Number(epoch) * 1000);
  return Number.isNaN(date.getTime()) ? String(epoch) : date.toISOString();
}

export function listInfo(info: FtrInfo): string {
  const created = createdAt(info);
  return `info 1 tick = 10^${info.exponent} s${created ? `, created ${created}` : ''}`;
}

export function listDeclaration(entry: Declaration): string {
  if (entry.kind === 'stream')
    return `stream ${entry.id} ${quoted(entry.name)} kind ${quoted(entry.streamKind)}`;
  return `generator ${entry.id} ${quoted(entry.name)} stream ${entry.stream}`;
}

export function listTransaction(transaction: FtrTransaction, generator: FtrText | undefined): string {
  const { id, start, end, attributes } = transaction;
  const name = generator === undefined ? '' : ` ${quoted(generator)}`;
  const head = `tx ${id} generator ${transaction.generator}${name} ${start}..${end}`;
  return [head, ...attributes.map(listAttribute)].join(' ');
}

function listAttribute({ phase, name, type, value }: FtrAttribute): string {
  return `${PHASE_NAMES[phase]}:${shownText(name)}:${TYPE_NAMES[type]}=${valueText(value)}`;
}

function valueText(value: FtrAttribute['value']): string {
  if (typeof value === 'string' || value instanceof Uint8Array) return quoted(value);
  return Object.is(value, -0) ? '-0' : String(value);
}

export function listRelation({ name, source, sink, sourceStream, sinkStream }: FtrRelation): string {
  return `relation ${quoted(name)} ${source} (stream ${sourceStream}) -> ${sink} (stream ${sinkStream})`;
}

/** 64-bit numbers become decimal strings, texts that are not UTF-8 `{ "hex": … }`, numbers that JSON lacks strings. */
export function toJson(record: unknown): string {
  return JSON.stringify(record, (_, value: unknown) => {
    if (typeof value === 'bigint') return value.toString();
    if (value instanceof Uint8Array) return { hex: toHex(value) };
    return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
  });
}

export function jsonTransaction({ attributes, ...rest }: FtrTransaction): unknown {
  return {
    kind: 'transaction',
    ...rest,
    attributes: attributes.map(({ phase, name, type, value }) => ({
      phase: PHASE_NAMES[phase],
      name,
      type: TYPE_NAMES[type],
      value,
    })),
  };
}
