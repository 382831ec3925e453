/** Entries as lines of text, for people and for comparison with other decoders. */
import { toHex } from '../../base/hex.js';
import type { FluxCursor } from './cursor.js';
import { decodeEntry } from './entries.js';
import {
  CONFLICT,
  type FluxEntry,
  type FluxMember,
  FluxTag,
  MEMBER_NAMES,
  STATES,
  TAG_NAMES,
  TYPE_NAMES,
} from './types.js';
import { decodeValue, type FluxLogic, type FluxValue, memberValue } from './values.js';

/** Without indentation for what is in blocks. @param order of the sections, at a `RING` */
export function listEntry(cursor: FluxCursor, order: readonly number[] = []): string {
  if (cursor.tag === FluxTag.RING) return `SECT-ORDER ${order.join(',')}`;
  if (cursor.tag === FluxTag.SAMPLE) return listSample(cursor);
  const entry = decodeEntry(cursor);
  return `${TAG_NAMES.get(entry.tag)} ${words(entry)}`.trimEnd();
}

function listSample(cursor: FluxCursor): string {
  const { id, flags, df, xdf, value, group, trace } = cursor;
  const mark = flags & CONFLICT ? 'conflict ' : '';
  return `@${group?.position ?? '?'} id=${id} ${mark}${shownValue(trace?.typeOf(id) ?? -1, df, xdf, value)}`;
}

/** A value that is none of its type is shown as bytes. */
export function shownValue(type: number, df: number, xdf: number, data: Uint8Array): string {
  try {
    return valueText(decodeValue(type, df, xdf, data));
  } catch {
    return `bytes df${df} xdf${xdf} ${toHex(data)}`;
  }
}

function valueText(value: FluxValue): string {
  switch (value.kind) {
    case 'none':
      return 'none';
    case 'event':
      return `event ${value.value}`;
    case 'integer':
      return `int ${value.value}`;
    case 'float':
      return `float${value.bits} ${floatText(value.value)}`;
    case 'text':
      return `text ${quoted(value.value)}`;
    case 'binary':
      return `bin ${toHex(value.value)}`;
    case 'struct':
      return `struct ${membersText(value.members)}`;
    case 'logic':
      return logicText(value);
    default:
      return listText(value);
  }
}

function logicText({ bits, states, uniform }: FluxLogic): string {
  const level = `logic L${bits === 4 ? 3 : bits}`;
  if (uniform) return `${level} pack${STATES.indexOf(states)}`;
  return `${level} xdf2 ${states[0]}|${states.slice(1)}`;
}

function listText(value: FluxValue & { readonly kind: 'events' | 'integers' | 'floats' | 'texts' }): string {
  const { dynamic, width } = value.list;
  const items = value.values.map((one: string | bigint | number) =>
    typeof one === 'string' ? quoted(one) : typeof one === 'number' ? floatText(one) : String(one),
  );
  const name = `${value.kind.slice(0, -1)}[]`;
  const format = dynamic ? `dyn${items.length}` : 'fix';
  const variant = width > 0 || value.kind === 'integers' || value.kind === 'floats' ? ` xdf${width}` : '';
  return `${name} ${format}${variant} [${items.join(',')}]`;
}

function membersText(members: readonly FluxMember[]): string {
  const shown = members.map((one) => {
    const value = memberValue(one);
    const text =
      typeof value === 'string'
        ? quoted(value)
        : typeof value === 'number'
          ? floatText(value)
          : typeof value === 'bigint'
            ? String(value)
            : toHex(value);
    return `${one.member}:${memberTypeName(one.type)}=${text}`;
  });
  return `{${shown.join(' ')}}`;
}

export function memberTypeName(type: number): string {
  const name = MEMBER_NAMES[type & 0x0f] ?? `type${type & 0x0f}`;
  const modifier = type & 0xf0;
  return modifier ? `${name}+mod${modifier.toString(16)}` : name;
}

export function typeName(type: number): string {
  return TYPE_NAMES[type] ?? `type${type}`;
}

function words(entry: FluxEntry): string {
  switch (entry.tag) {
    case FluxTag.HEAD: {
      const { version, traceId, mode, maxItemId, maxEntrySize } = entry;
      const names = `name=${quoted(entry.name)} descr=${quoted(entry.description)}`;
      return `magic=flux ver=${version} trace=${traceId} ${names} mode=${mode} maxItem=${maxItemId} maxEntry=${maxEntrySize}`;
    }
    case FluxTag.SWTH:
      return `trace=${entry.traceId}`;
    case FluxTag.PBLK:
      return `mode=${entry.mode} orig=${entry.size} comp=${entry.compressed}`;
    case FluxTag.SECT:
      return `counter=${entry.counter & 0x7f} last=${entry.counter >> 7} size=${entry.size} used=${entry.used}`;
    case FluxTag.SCPD:
      return `id=${entry.id} ${named(entry)}`;
    case FluxTag.SIGD:
      return `id=${entry.id} ${named(entry)} ${typed(entry)}`;
    case FluxTag.MSGD:
      return `ids=${entry.id}..${entry.idTo} ${named(entry)} ${typed(entry)}`;
    case FluxTag.SIRD:
      return `ref=${entry.id} ${named(entry)}`;
    case FluxTag.SSGD:
      return `id=${entry.id} ${named(entry)} ${typed(entry)} bits=${entry.from}..${entry.to}`;
    case FluxTag.SSRD:
      return `ref=${entry.id} ${named(entry)} bits=${entry.from}..${entry.to}`;
    case FluxTag.OPEN:
      return `id=${entry.id} domain=${quoted(entry.domain)} start=${entry.start} rate=${entry.rate}`;
    case FluxTag.CLOS:
      return `id=${entry.id} end=${entry.end}`;
    case FluxTag.DOMD:
      return `domain=${quoted(entry.domain)}`;
    case FluxTag.CURR:
      return `id=${entry.id} pos=${entry.position}`;
    case FluxTag.ENMD:
      return `id=${entry.id} enum=${entry.enumeration} label=${quoted(entry.label)} value=${entry.value}`;
    case FluxTag.MEMD: {
      const place = `id=${entry.id} member=${entry.member} parent=${entry.parent - 1}`;
      return `${place} label=${quoted(entry.label)} type=${memberTypeName(entry.type)} desc=${quoted(entry.descriptor)}`;
    }
    case FluxTag.ATRE: {
      const { id, type, target, style, delta, base } = entry;
      return `id=${id} type=${type} target=${target} style=${style} delta=${delta} base=${base}`;
    }
    case FluxTag.ATLA: {
      const place = entry.x || entry.y ? ` x=${entry.x} y=${entry.y}` : '';
      return `id=${entry.id} style=${entry.style}${place}`;
    }
    case FluxTag.CREQ:
    case FluxTag.CRES:
      return `ctl=${entry.control} msg=${entry.message} ${membersText(entry.members)}`;
    default:
      return '';
  }
}

const named = (entry: { parent: number; name: string; description: string }): string =>
  `parent=${entry.parent} name=${quoted(entry.name)} descr=${quoted(entry.description)}`;

const typed = (entry: { type: number; descriptor: string }): string =>
  `type=${typeName(entry.type)} desc=${quoted(entry.descriptor)}`;

export function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&').replace(/\n/g, '\\n').replace(/\r/g, '\\r').replace(/\t/g, '\\t')}'`;
}

/** The shortest decimal that gives the number again; always seen to be a float. */
function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf';
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}
