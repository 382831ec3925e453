// @ts-check
/** Header, preamble and schema (docs/reference/format.md#file-header, #preamble, #schema). */
import { align8, Bytes } from './bytes.mjs';

/** @typedef {import('./bytes.mjs').Note} Note */
/** @typedef {{ name: string, type: number, enumId: number, role: number, pair: number }} Field */
/** @typedef {{ name: string, slots: number, flags: number, scope: number, fields: Field[], properties: Field[] }} Storage */
/** @typedef {{ name: string, scope: number, fields: Field[] }} EventType */
/** @typedef {{ name: string, values: { name: string, value: number }[] }} Enum */
/** @typedef {ReturnType<typeof readHeader>} Header */
/** @typedef {ReturnType<typeof readSchema>} Schema */

const NONE = 0xffff;
const CHUNKS = new Map([
  [0, 'END'],
  [1, 'DUT descriptor'],
  [2, 'schema'],
  [3, 'trace configuration'],
  [0xff01, 'session'],
  [0xff02, 'preamble checksum'],
]);
const FIELD_BYTES = [0, 1, 2, 4, 8, 1, 2, 4, 8, 1, 4, 1];

/** Packed size. @param {readonly Field[]} fields */
export const packedSize = (fields) => fields.reduce((sum, { type }) => sum + FIELD_BYTES[type], 0);

/** A packed value. @param {Bytes} bytes @param {Field} field */
export function readField(bytes, { name, type }) {
  if (FIELD_BYTES[type] === 8) return bytes.u64(name);
  if (FIELD_BYTES[type] === 4) return BigInt(bytes.u32(name));
  return BigInt(FIELD_BYTES[type] === 2 ? bytes.u16(name) : bytes.u8(name));
}

/** What of a value the state keeps. @param {bigint} value @param {Field} field */
export const truncated = (value, { type }) => BigInt.asUintN(8 * FIELD_BYTES[type], value);

/** @param {Bytes} bytes */
export function readHeader(bytes) {
  bytes.magic('uSCP', 'magic');
  const major = bytes.u16('version_major');
  const minor = bytes.u16('version_minor');
  const flags = bytes.place('flags');
  if (major !== 0 || minor > 3 || flags > 0xff) throw new Error(`version ${major}.${minor}, flags ${flags}`);
  return {
    minor,
    isComplete: (flags & 1) !== 0,
    compression: flags & 2 ? (flags >> 3) & 7 : -1,
    isInterleaved: (flags & 0x80) !== 0,
    totalTime: bytes.u64('total_time_ps'),
    numSegments: bytes.u32('num_segments'),
    preambleEnd: bytes.u32('preamble_end'),
    sectionTable: bytes.place('section_table_offset'),
    tail: bytes.place('tail_offset'),
  };
}

/**
 * Chunks of the preamble, and what is in them.
 * @param {Uint8Array} file @param {Header} header @param {Note} note
 */
export function readPreamble(file, header, note) {
  const bytes = new Bytes(file, 48, header.preambleEnd, note);
  /** @type {Map<number, { at: number, size: number }>} */
  const chunks = new Map();
  for (;;) {
    const at = bytes.at;
    const type = bytes.view.getUint16(at, true);
    bytes.take(2, `chunk: ${CHUNKS.get(type) ?? `type ${type}`}`);
    bytes.u16('flags');
    const size = bytes.u32('size');
    if (type === 0) break;
    chunks.set(type, { at: bytes.at, size });
    bytes.take(size);
    bytes.pad(at + 8 + align8(size));
  }
  const within = (/** @type {number} */ type) => {
    const { at, size } = chunks.get(type) ?? { at: 0, size: 0 };
    return new Bytes(file, at, at + size, note);
  };
  const { schema, string } = readSchema(within(2), header.minor);
  const dut = readDut(within(1), string);
  const interval = within(3).u64('checkpoint interval, ps');
  const session = chunks.has(0xff01) ? readSession(within(0xff01)) : null;
  for (const [type, { at, size }] of chunks)
    if (!CHUNKS.has(type) || type === 0xff02) note(at, size, 'payload');
  return { schema, dut, interval, session };
}

/** @param {Bytes} bytes @param {(offset: number) => string} string */
function readDut(bytes, string) {
  const count = bytes.u16('DUT properties');
  bytes.u16('reserved');
  return Array.from({ length: count }, () => {
    const key = string(bytes.u16('key'));
    return [key, string(bytes.u16('value'))];
  });
}

/** @param {Bytes} bytes */
function readSession(bytes) {
  const layout = bytes.u32('layout');
  if (layout !== 1) throw new Error(`session layout ${layout}`);
  const hex = (/** @type {string} */ name) => Buffer.from(bytes.bytes(16, name)).toString('hex');
  const status = bytes.u32('status');
  const session = hex('session id');
  const run = hex('run id');
  const core = bytes.u32('core index');
  bytes.u32('reserved');
  bytes.u64('start, unix ms');
  bytes.u64('end, unix ms');
  const lost = bytes.u64('lost');
  const rejected = bytes.u64('refused');
  const isRing = bytes.u32('made by a flight recorder') === 1;
  bytes.u32('reserved');
  const ring = ['first frame', 'next string', 'items'].map((name) => String(bytes.u64(name)));
  bytes.take(bytes.end - bytes.at, 'reserved');
  const ended = { session, run, core, status, lost: String(lost), rejected: String(rejected) };
  return isRing ? { ...ended, ring } : ended;
}

/**
 * Definitions, then the pool. Names are looked up when all is read.
 * @param {Bytes} bytes @param {number} minor
 */
export function readSchema(bytes, minor) {
  const start = bytes.at;
  const [numEnums, numClocks] = [bytes.u8('enums'), bytes.u8('clocks')];
  const [numScopes, numStorages] = [bytes.u16('scopes'), bytes.u16('storages')];
  const [numEvents, numSummaryFields] = [bytes.u16('event types'), bytes.u16('summary fields')];
  const poolOffset = bytes.u16('string pool offset');
  let poolAt = start + poolOffset;
  const string = (/** @type {number} */ offset) => {
    const end = bytes.data.indexOf(0, poolAt + offset);
    if (offset === NONE || end < 0 || end >= bytes.end) throw new Error(`no string at ${offset} of the pool`);
    return new TextDecoder().decode(bytes.data.subarray(poolAt + offset, end));
  };
  if (minor < 3)
    poolAt = definitionsEnd(bytes, [
      numClocks,
      numScopes,
      numEnums,
      numStorages,
      numEvents,
      numSummaryFields,
    ]);
  const list = (/** @type {number} */ length, /** @type {() => any} */ read) => Array.from({ length }, read);
  const name = (/** @type {string} */ of) => string(named(bytes, of, string));
  const id = (/** @type {string} */ of) => bytes.u16(`${of} id`);
  const field = () => readDefinition(bytes, string);
  const clocks = list(numClocks, () => ({
    name: name('clock'),
    id: id('clock'),
    period: bytes.u32('period, ps'),
  }));
  const scopes = list(numScopes, () => readScope(bytes, string));
  const enums = list(numEnums, () => readEnum(bytes, string));
  /** @type {Storage[]} */
  const storages = list(numStorages, () => {
    const storage = { name: name('storage'), id: id('storage'), slots: bytes.u16('slots') };
    const numFields = bytes.u16('fields');
    const more = { flags: bytes.u16('flags'), scope: bytes.u16('scope') };
    const numProperties = minor < 3 ? 0 : bytes.u16('properties');
    if (minor >= 3) bytes.u16('reserved');
    return { ...storage, ...more, fields: list(numFields, field), properties: list(numProperties, field) };
  });
  /** @type {EventType[]} */
  const events = list(numEvents, () => {
    const event = { name: name('event'), id: id('event') };
    const numFields = bytes.u16('fields');
    return { ...event, scope: bytes.u16('scope'), fields: list(numFields, field) };
  });
  const summaryFields = list(numSummaryFields, () => {
    const summary = { name: name('summary field'), type: bytes.u8('type') };
    bytes.u8('reserved');
    const scope = bytes.u16('scope');
    bytes.u16('reserved');
    return { ...summary, scope };
  });
  notePool(bytes, poolAt);
  return { schema: { clocks, scopes, enums, storages, events, summaryFields }, string };
}

/** A name, said with its text. @param {Bytes} bytes @param {string} of @param {(offset: number) => string} string */
function named(bytes, of, string) {
  const offset = bytes.view.getUint16(bytes.take(2), true);
  bytes.note(bytes.at - 2, 2, `${of}: name "${string(offset)}"`);
  return offset;
}

/** @param {Bytes} bytes @param {(offset: number) => string} string @returns {Field} */
function readDefinition(bytes, string) {
  const field = {
    name: string(named(bytes, 'field', string)),
    type: bytes.u8('type'),
    enumId: bytes.u8('enum'),
    role: bytes.u8('role'),
    pair: bytes.u8('pair'),
  };
  bytes.u16('reserved');
  return field;
}

/** @param {Bytes} bytes @param {(offset: number) => string} string */
function readScope(bytes, string) {
  const scope = {
    name: string(named(bytes, 'scope', string)),
    id: bytes.u16('scope id'),
    parent: bytes.u16('parent'),
  };
  const protocol = bytes.u16('protocol');
  const clock = bytes.u8('clock');
  bytes.take(3, 'reserved');
  return { ...scope, clock, protocol: protocol === NONE ? null : string(protocol) };
}

/** @param {Bytes} bytes @param {(offset: number) => string} string */
function readEnum(bytes, string) {
  const name = string(named(bytes, 'enum', string));
  const count = bytes.u8('values');
  bytes.u8('reserved');
  const values = Array.from({ length: count }, () => {
    const value = bytes.u8('value');
    bytes.u8('reserved');
    return { value, name: string(named(bytes, 'value', string)) };
  });
  return { name, values };
}

/** Before version 0.3 only the sizes of the definitions show where the pool is. @param {Bytes} bytes @param {number[]} counts */
function definitionsEnd(bytes, [clocks, scopes, enums, storages, events, summaryFields]) {
  const { view } = bytes;
  let at = bytes.at + 8 * clocks + 12 * scopes;
  for (let i = 0; i < enums; i++) at += 4 + 4 * view.getUint8(at + 2);
  for (let i = 0; i < storages; i++) at += 12 + 8 * view.getUint16(at + 6, true);
  for (let i = 0; i < events; i++) at += 8 + 8 * view.getUint16(at + 4, true);
  return at + 8 * summaryFields;
}

/** @param {Bytes} bytes @param {number} poolAt */
function notePool(bytes, poolAt) {
  for (let at = poolAt; at < bytes.end; ) {
    const end = bytes.data.indexOf(0, at);
    bytes.note(
      at,
      end + 1 - at,
      `string ${at - poolAt} of the pool: "${Buffer.from(bytes.data.subarray(at, end))}"`,
    );
    at = end + 1;
  }
}
