// @ts-check
/** Segments: checkpoints, frames, commit records, and the state that follows from them (docs/reference/format.md#segments). */
import { crc32 } from 'node:zlib';
import { align8, Bytes, decompressLz4 } from './bytes.mjs';
import { packedSize, readField, truncated } from './preamble.mjs';

/** @typedef {import('./bytes.mjs').Note} Note */
/** @typedef {import('./preamble.mjs').Header} Header */
/** @typedef {import('./preamble.mjs').Schema['schema']} Schema */
/** @typedef {(frame: Uint8Array, rawSize: number) => Uint8Array} Zstd */
/** @typedef {{ valid: boolean[], slots: bigint[][], properties: bigint[] }} StorageState */
/** @typedef {{ time: bigint, items: string[] }} Frame */
/** @typedef {'wide' | 'compact' | 'event'} Form */

const ACTIONS = ['', 'set', 'clear', 'add', 'prop'];
const EMPTY_CRC = new Uint8Array(4);

/** The state before a trace's first frame. @param {Schema} schema @returns {StorageState[]} */
export function emptyState({ storages }) {
  return storages.map(({ slots, flags, fields, properties }) => ({
    valid: Array.from({ length: slots }, () => (flags & 1) === 0),
    slots: Array.from({ length: slots }, () => fields.map(() => 0n)),
    properties: properties.map(() => 0n),
  }));
}

/** Offsets of all segments, by the chain. @param {Uint8Array} file @param {Header} header */
export function walkChain(file, { tail, preambleEnd }) {
  const offsets = [];
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  for (let at = tail, above = Number.POSITIVE_INFINITY; at !== 0; ) {
    if (at < preambleEnd || at >= above) throw new Error(`the chain leads from ${above} to ${at}`);
    offsets.unshift(at);
    above = at;
    at = Number(view.getBigUint64(at + 24, true));
  }
  return offsets;
}

/**
 * One segment: its times, its checkpoint, its frames, and the strings of its commit record if the file is of ours.
 * @param {Uint8Array} file @param {number} offset @param {Header} header @param {Schema} schema
 * @param {{ note: Note, isOurs: boolean, zstd: Zstd, forms: Set<Form> }} options
 */
export function readSegment(file, offset, header, schema, { note, isOurs, zstd, forms }) {
  const bytes = new Bytes(file, offset, file.length, note);
  bytes.magic('uSEG', 'segment');
  bytes.u32('flags');
  const start = bytes.u64('time_start_ps');
  const end = bytes.u64('time_end_ps');
  bytes.u64('prev_segment_offset');
  const checkpointSize = bytes.u32('checkpoint_size');
  const compressedSize = bytes.u32('deltas_compressed_size');
  const rawSize = bytes.u32('deltas_raw_size');
  const numFrames = bytes.u32('num_frames');
  const numActive = bytes.u32('num_frames_active');
  bytes.u32('reserved');
  const checkpoint = readCheckpoint(new Bytes(file, bytes.at, bytes.at + checkpointSize, note), schema);
  const deltasAt = bytes.at + checkpointSize;
  const blob = file.subarray(deltasAt, deltasAt + compressedSize);
  const frames = readFrames(
    framesIn(blob, deltasAt, rawSize, header, note, zstd),
    start,
    header,
    schema,
    forms,
  );
  if (header.compression >= 0) note(deltasAt, compressedSize, `${frames.length} frames, compressed`);
  const active = frames.filter(({ items }) => items.length > 0).length;
  if (frames.length !== numFrames || active !== numActive) throw new Error('the number of frames is another');
  const segmentEnd = deltasAt + compressedSize;
  const record = isOurs ? readRecord(file, offset, segmentEnd, note) : { strings: [], supplied: [] };
  return { start, end, checkpoint, frames, ...record };
}

/**
 * The raw frames; with notes where they are in the file as they are.
 * @param {Uint8Array} blob @param {number} at @param {number} rawSize @param {Header} header @param {Note} note @param {Zstd} zstd
 */
function framesIn(blob, at, rawSize, { compression }, note, zstd) {
  if (compression < 0) {
    if (blob.length !== rawSize) throw new Error('raw frames of another size');
    const whole = new Uint8Array(at + rawSize);
    whole.set(blob, at);
    return new Bytes(whole, at, at + rawSize, note);
  }
  return new Bytes(decompress(blob, rawSize, compression, zstd), 0, rawSize, () => {});
}

/** @param {Uint8Array} blob @param {number} rawSize @param {number} method @param {Zstd} zstd */
function decompress(blob, rawSize, method, zstd) {
  if (rawSize === 0 && blob.length === 0) return blob;
  if (method === 1) return zstd(blob, rawSize);
  const stated = blob.length < 4 ? -1 : new DataView(blob.buffer, blob.byteOffset).getUint32(0, true);
  if (stated !== rawSize) return decompressLz4(blob, rawSize);
  try {
    return decompressLz4(blob.subarray(4), rawSize);
  } catch {
    return decompressLz4(blob, rawSize);
  }
}

/** @param {Bytes} bytes @param {Schema} schema */
function readCheckpoint(bytes, schema) {
  const state = emptyState(schema);
  while (!bytes.isAtEnd) {
    const id = bytes.u16('checkpoint of storage');
    bytes.u16('reserved');
    const end = bytes.u32('size') + bytes.at;
    const { slots, flags, fields, properties } = schema.storages[id];
    const { valid } = state[id];
    if (flags & 1) {
      const mask = bytes.bytes(Math.ceil(slots / 8), 'mask');
      for (let slot = 0; slot < slots; slot++) valid[slot] = ((mask[slot >> 3] >> (slot & 7)) & 1) === 1;
    }
    for (let slot = 0; slot < slots; slot++) {
      if (valid[slot]) state[id].slots[slot] = fields.map((field) => readField(bytes, field));
    }
    state[id].properties = properties.map((field) => readField(bytes, field));
    if (bytes.at !== end) throw new Error(`the block of storage ${id} ends at ${bytes.at} instead of ${end}`);
  }
  return state;
}

/** @param {Bytes} bytes @param {bigint} start @param {Header} header @param {Schema} schema @param {Set<Form>} forms */
function readFrames(bytes, start, { isInterleaved }, schema, forms) {
  /** @type {Frame[]} */
  const frames = [];
  let time = start;
  while (!bytes.isAtEnd) {
    time += bytes.leb128('frame: time difference, ps');
    const items = isInterleaved ? interleaved(bytes, schema, forms) : plain(bytes, schema, forms);
    frames.push({ time, items });
  }
  return frames;
}

/** @param {Bytes} bytes @param {Schema} schema @param {Set<Form>} forms */
function interleaved(bytes, schema, forms) {
  return Array.from({ length: bytes.u16('items') }, () => {
    const tag = bytes.u8('tag');
    if (tag === 3) {
      bytes.u8('reserved');
      return event(bytes, bytes.u16('event type'), schema, forms);
    }
    if (tag !== 1 && tag !== 2) throw new Error(`tag ${tag}`);
    return op(bytes, bytes.u8('action'), tag === 2, forms);
  });
}

/** @param {Bytes} bytes @param {Schema} schema @param {Set<Form>} forms */
function plain(bytes, schema, forms) {
  const isCompact = bytes.u8('op format') === 1;
  bytes.u8('reserved');
  const numOps = bytes.u16('ops');
  const numEvents = bytes.u16('events');
  const ops = Array.from({ length: numOps }, () => {
    const action = bytes.u8('action');
    if (!isCompact) bytes.u8('reserved');
    return op(bytes, action, isCompact, forms);
  });
  const events = Array.from({ length: numEvents }, () => {
    const type = bytes.u16('event type');
    bytes.u16('reserved');
    return event(bytes, type, schema, forms);
  });
  return [...ops, ...events];
}

/**
 * The place after the action; both kinds of frame agree in what follows. @param {Bytes} bytes @param {number} action @param {boolean} isCompact
 * @param {Set<Form>} forms
 */
function op(bytes, action, isCompact, forms) {
  forms.add(isCompact ? 'compact' : 'wide');
  const storage = isCompact ? bytes.u8('storage') : bytes.u16('storage');
  const slot = bytes.u16('slot');
  const field = bytes.u16('field');
  const value = isCompact ? BigInt(bytes.u16('value')) : bytes.u64('value');
  if (action < 1 || action > 4) throw new Error(`action ${action}`);
  if (action === 2) return `clear ${storage} ${slot}`;
  return `${ACTIONS[action]} ${storage}${action === 4 ? '' : ` ${slot}`} ${field} = ${value}`;
}

/** @param {Bytes} bytes @param {number} type @param {Schema} schema @param {Set<Form>} forms */
function event(bytes, type, { events }, forms) {
  forms.add('event');
  const size = bytes.u32('payload size');
  if (events[type] && packedSize(events[type].fields) !== size) throw new Error(`payload of ${size} bytes`);
  const payload = bytes.bytes(size, 'payload');
  return `event ${type} ${Buffer.from(payload).toString('hex')}`.trimEnd();
}

/** @param {Uint8Array} file @param {number} segmentAt @param {number} segmentEnd @param {Note} note */
function readRecord(file, segmentAt, segmentEnd, note) {
  const at = align8(segmentEnd);
  const bytes = new Bytes(file, segmentEnd, file.length, note);
  bytes.pad(at);
  bytes.magic('uREC', 'commit record');
  const size = bytes.u32('size');
  const crc = bytes.u32('CRC-32');
  const count = bytes.u32('strings');
  if (bytes.place('segment offset') !== segmentAt) throw new Error('the record of another segment');
  bytes.u64('next frame');
  bytes.u64('next string');
  if (bytes.place('segment size') !== segmentEnd - segmentAt) throw new Error('a segment of another size');
  const strings = Array.from({ length: count }, () => bytes.text(bytes.u32('length'), 'string'));
  bytes.pad(align8(bytes.at));
  const isLonger = bytes.at < at + size;
  const supplied = isLonger
    ? Array.from({ length: bytes.u32('states supplied') }, () => bytes.u16('storage'))
    : [];
  bytes.pad(at + size);
  const parts = [
    file.subarray(segmentAt, segmentEnd),
    file.subarray(at, at + 8),
    EMPTY_CRC,
    file.subarray(at + 12, at + size),
  ];
  if (parts.reduce((sum, part) => crc32(part, sum), 0) !== crc)
    throw new Error(`the CRC of the segment at ${segmentAt}`);
  return { strings, supplied };
}

/** Applies the ops of a frame. @param {StorageState[]} state @param {Schema} schema @param {Frame} frame */
export function apply(state, { storages }, { items }) {
  for (const item of items) {
    const [action, ...words] = item.split(/ = | /);
    if (action === 'event') continue;
    const [storage, slot, field] = words.map(Number);
    const value = BigInt(words[words.length - 1]);
    const { fields, properties, flags } = storages[storage];
    const { slots, valid } = state[storage];
    if (action === 'prop') {
      state[storage].properties[slot] = truncated(value, properties[slot]);
    } else if (action === 'clear') {
      slots[slot] = fields.map(() => 0n);
      valid[slot] = (flags & 1) === 0;
    } else {
      const before = action === 'add' ? slots[slot][field] : 0n;
      slots[slot][field] = truncated(before + value, fields[field]);
      valid[slot] = true;
    }
  }
}
