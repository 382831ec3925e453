// @ts-check
/** A whole file by docs/reference/format.md, as the listing that test/compatibility/listing.mjs makes through the library. */
import { Bytes } from './bytes.mjs';
import { readHeader, readPreamble } from './preamble.mjs';
import { apply, emptyState, readSegment, walkChain } from './segments.mjs';

/** @typedef {import('./bytes.mjs').Note} Note */
/** @typedef {import('./preamble.mjs').Field} Field */
/** @typedef {import('./segments.mjs').Form} Form */
/** @typedef {import('./segments.mjs').StorageState} StorageState */
/** @typedef {Map<number, { offset: number, size: number }>} Sections */

const TYPES = ['', 'u8', 'u16', 'u32', 'u64', 'i8', 'i16', 'i32', 'i64', 'bool', 'string', 'enum'];

/**
 * @param {Uint8Array} file
 * @param {{ note?: Note, zstd?: import('./segments.mjs').Zstd }} [options]
 */
export function decodeFile(file, { note = () => {}, zstd = () => new Uint8Array(0) } = {}) {
  const header = readHeader(new Bytes(file, 0, 48, note));
  const { schema, dut, interval, session } = readPreamble(file, header, note);
  /** @type {Sections} */
  const sections = header.isComplete ? readSections(file, header.sectionTable, note) : new Map();
  const offsets = walkChain(file, header);
  checkTable(file, sections, offsets, note);
  /** @type {Set<Form>} */
  const forms = new Set();
  const options = { note, zstd, forms, isOurs: session !== null };
  const segments = offsets.map((offset) => readSegment(file, offset, header, schema, options));
  let state = emptyState(schema);
  for (const { checkpoint, frames, supplied } of segments) {
    expectSame(state, checkpoint, supplied, session?.status === 4 || segments[0].start > 0n);
    state = checkpoint;
    for (const frame of frames) apply(state, schema, frame);
  }
  const recorded = segments.flatMap(({ strings }) => strings);
  const listing = {
    complete: header.isComplete,
    compression: ['none', 'lz4', 'zstd'][header.compression + 1],
    interval: String(interval),
    totalTime: String(header.isComplete ? header.totalTime : (segments.at(-1)?.end ?? 0n)),
    session,
    dut,
    schema: listSchema(schema),
    strings: header.isComplete ? readStrings(file, sections, note) : recorded,
    segments: segments.map(({ start, end, frames }) => `${start} ${end} ${frames.length}`),
    frames: segments.flatMap(({ frames }) =>
      frames.map(({ time, items }) => [String(time), ...items].join(' | ')),
    ),
    state: segments.length > 0 ? listState(state) : [],
    summary: readSummary(file, sections, note),
  };
  return { listing, forms, header };
}

/** @typedef {import('./preamble.mjs').Schema['schema']} Schema */

/** Each checkpoint is the state before its segment, but for what the model supplied. @param {StorageState[]} state @param {StorageState[]} checkpoint @param {number[]} supplied @param {boolean} isPart */
function expectSame(state, checkpoint, supplied, isPart) {
  if (isPart) return;
  state.forEach((storage, id) => {
    if (supplied.includes(id)) return;
    const [a, b] = [storage, checkpoint[id]].map((value) =>
      JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? `${v}` : v)),
    );
    if (a !== b) throw new Error(`the checkpoint of storage ${id} differs from replay`);
  });
}

/** @param {Uint8Array} file @param {number} offset @param {Note} note */
function readSections(file, offset, note) {
  const bytes = new Bytes(file, offset, file.length, note);
  /** @type {Sections} */
  const sections = new Map();
  for (;;) {
    const type = bytes.u16('section: type');
    bytes.u16('flags');
    bytes.u32('reserved');
    const section = { offset: bytes.place('offset'), size: bytes.place('size') };
    if (type === 0) return sections;
    if (!sections.has(type)) sections.set(type, section);
  }
}

/** @param {Uint8Array} file @param {Sections} sections @param {number} type @param {Note} note */
function sectionBytes(file, sections, type, note) {
  const section = sections.get(type);
  return section ? new Bytes(file, section.offset, section.offset + section.size, note) : null;
}

/** The segment table says what the chain says. @param {Uint8Array} file @param {Sections} sections @param {number[]} offsets @param {Note} note */
function checkTable(file, sections, offsets, note) {
  const bytes = sectionBytes(file, sections, 3, note);
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  for (const offset of bytes ? offsets : []) {
    const isSame =
      bytes?.place('segment offset') === offset &&
      bytes.u64('time_start_ps') === view.getBigUint64(offset + 8, true) &&
      bytes.u64('time_end_ps') === view.getBigUint64(offset + 16, true);
    if (!isSame) throw new Error(`the table entry of the segment at ${offset}`);
  }
  if (bytes && !bytes.isAtEnd) throw new Error('the table lists more segments than the chain has');
}

/** @param {Uint8Array} file @param {Sections} sections @param {Note} note @returns {string[]} */
function readStrings(file, sections, note) {
  const bytes = sectionBytes(file, sections, 2, note);
  if (!bytes) return [];
  const count = bytes.u32('strings');
  bytes.u32('reserved');
  const start = bytes.at + 8 * count;
  const entries = Array.from({ length: count }, () => [
    bytes.u32('string offset'),
    bytes.u32('string length'),
  ]);
  return entries.map(([offset, length]) => {
    const text = new Bytes(file, start + offset, bytes.end, note);
    const value = text.text(length, 'string');
    text.take(1, 'NUL');
    return value;
  });
}

/** @param {Uint8Array} file @param {Sections} sections @param {Note} note */
function readSummary(file, sections, note) {
  const bytes = sectionBytes(file, sections, 0x10, note);
  if (!bytes) return null;
  const isOld = file[bytes.at] === 0x43;
  bytes.magic(isOld ? 'CSUM' : 'TSUM', 'summary');
  const interval = bytes.u32('base interval');
  const fanOut = bytes.u32('fan-out');
  const instructions = String(isOld ? 0 : bytes.u64('instructions'));
  const list = (/** @type {string} */ name, /** @type {() => string} */ read) =>
    Array.from({ length: bytes.u32(name) }, read);
  const density = isOld
    ? []
    : list('density levels', () => list('buckets', () => `${bytes.u32('instructions')}`).join(' '));
  const bucket = () => `${bytes.u64('least')} ${bytes.u64('greatest')} ${bytes.u64('sum')}`;
  const counters = Array.from({ length: bytes.u32('counters') }, () => {
    const name = bytes.text(bytes.u32('length'), 'counter');
    const storage = bytes.u16('storage');
    return {
      name: `${name} ${storage}`,
      levels: Array.from({ length: bytes.u32('levels') }, () => list('buckets', bucket)),
    };
  });
  return { interval, fanOut, instructions, density, counters };
}

/** @param {Field} field */
const listField = ({ name, type, enumId }) => `${name}: ${TYPES[type]}${type === 11 ? ` ${enumId}` : ''}`;

/** @param {Schema} schema */
function listSchema({ clocks, scopes, enums, storages, events, summaryFields }) {
  return {
    clocks: clocks.map(({ name, period }) => `${name} ${period}`),
    scopes: scopes.map((s) => `${s.name} in ${s.parent}, protocol ${s.protocol}, clock ${s.clock}`),
    enums: enums.map(
      (/** @type {import('./preamble.mjs').Enum} */ e) =>
        `${e.name}: ${e.values.map(({ name, value }) => `${name} ${value}`).join(', ')}`,
    ),
    storages: storages.map((s) => ({
      name: `${s.name} in ${s.scope}, ${s.slots} slots, flags ${s.flags}`,
      fields: s.fields.map(listField),
      properties: s.properties.map((p) => `${listField(p)}, role ${p.role}, pair ${p.pair}`),
    })),
    events: events.map(({ name, scope, fields }) => ({
      name: `${name} in ${scope}`,
      fields: fields.map(listField),
    })),
    summary: summaryFields.map(({ name, type, scope }) => `${name}: ${TYPES[type]} in ${scope}`),
  };
}

/** What is not zero. @param {StorageState[]} state */
function listState(state) {
  return state.flatMap(({ valid, slots, properties }, id) => [
    ...slots.flatMap((values, slot) => {
      const isListed = valid[slot] && values.some((value) => value !== 0n);
      return isListed ? [`${id}[${slot}] ${values.join(' ')}`] : [];
    }),
    ...(properties.some((value) => value !== 0n) ? [`${id} properties ${properties.join(' ')}`] : []),
  ]);
}
