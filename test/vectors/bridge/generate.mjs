// @ts-check
/**
 * Golden messages of the bridge protocol (docs/bridge-protocol.md), assembled byte by byte. The msgpack emitter below is written for
 * this file and shares nothing with the implementations under test, so that the two cannot agree on a mistake.
 *
 *     node test/vectors/bridge/generate.mjs [DIRECTORY]     default: beside this file
 *
 * Every NAME.bin has a NAME.json:
 *   { kind: 'control', direction: 'to-daemon' | 'to-client', message: {...}, decodeOnly?: true }
 *   { kind: 'data-header', header: {...} }                    48 bytes
 *   { kind: 'records', records: [...] }                       payload of a data message
 *   { kind, error: CODE, why: '...', payloadSize? }           must be refused with that code (payloadSize: bytes of the second part)
 * 64-bit quantities are decimal strings, byte strings are { hex: '...' }. `decodeOnly`: legal, but not what our encoders emit.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// ---------------------------------------------------------------------------------------------- bytes

/** @param {number | bigint} value @param {number} size */
function le(value, size) {
  const out = [];
  let rest = BigInt(value);
  for (let i = 0; i < size; i++, rest >>= 8n) out.push(Number(rest & 0xffn));
  return out;
}

/** @param {number | bigint} value @param {number} size */
const be = (value, size) => le(value, size).reverse();
/** @param {string} text */
const utf8 = (text) => [...Buffer.from(text, 'utf8')];
/** @param {string} text */
const hex = (text) => [...Buffer.from(text, 'hex')];

// ---------------------------------------------------------------------------------------------- msgpack

/** @param {number | bigint | string} value smallest unsigned form */
function uint(value) {
  const v = BigInt(value);
  if (v < 0x80n) return [Number(v)];
  if (v <= 0xffn) return [0xcc, ...be(v, 1)];
  if (v <= 0xffffn) return [0xcd, ...be(v, 2)];
  if (v <= 0xffff_ffffn) return [0xce, ...be(v, 4)];
  return [0xcf, ...be(v, 8)];
}

/** @param {string} text */
function str(text) {
  const bytes = utf8(text);
  if (bytes.length < 32) return [0xa0 | bytes.length, ...bytes];
  if (bytes.length <= 0xff) return [0xd9, bytes.length, ...bytes];
  return [0xda, ...be(bytes.length, 2), ...bytes];
}

/** @param {string} digits */
function bin(digits) {
  const bytes = hex(digits);
  return bytes.length <= 0xff ? [0xc4, bytes.length, ...bytes] : [0xc5, ...be(bytes.length, 2), ...bytes];
}

/** @param {[string, number[]][]} entries */
function map(entries) {
  const n = entries.length;
  const head = n < 16 ? [0x80 | n] : [0xde, ...be(n, 2)];
  return [...head, ...entries.flatMap(([key, value]) => [...str(key), ...value])];
}

const TRUE = [0xc3];

// ---------------------------------------------------------------------------------------------- writing

const directory = process.argv[2] ?? dirname(fileURLToPath(import.meta.url));
mkdirSync(directory, { recursive: true });

/** @param {string} name @param {number[]} bytes @param {object} description */
function emit(name, bytes, description) {
  writeFileSync(join(directory, `${name}.bin`), Uint8Array.from(bytes));
  writeFileSync(join(directory, `${name}.json`), `${JSON.stringify(description, null, 2)}\n`);
}

/** @param {string} name @param {string} direction @param {object} message @param {number[]} bytes @param {object} [more] */
function control(name, direction, message, bytes, more = {}) {
  emit(name, bytes, { kind: 'control', direction, message, ...more });
}

/** @param {string} name @param {number[]} bytes @param {string} why @param {object} [more] */
function bad(name, bytes, why, more = {}) {
  emit(`bad-${name}`, bytes, {
    kind: 'control',
    direction: 'to-daemon',
    error: 'BRIDGE_MESSAGE',
    why,
    ...more,
  });
}

// ---------------------------------------------------------------------------------------------- control messages

const SESSION = '00112233445566778899aabbccddeeff';
const RUN = 'f0e0d0c0b0a090807060504030201000';
const UP = 'to-daemon';
const DOWN = 'to-client';

const hello = { t: 'hello', v: 1, client: 'uscope-c 0.1.0', pid: 4242, start: '123456789012' };
/** @type {[string, number[]][]} */
const helloEntries = [
  ['t', str('hello')],
  ['v', uint(1)],
  ['client', str('uscope-c 0.1.0')],
  ['pid', uint(4242)],
  ['start', uint(123456789012n)],
];
control('hello', UP, hello, map(helloEntries));
control(
  'welcome',
  DOWN,
  { t: 'welcome', v: 1, daemon: 'uscope 0.1.0', pid: 70000 },
  map([
    ['t', str('welcome')],
    ['v', uint(1)],
    ['daemon', str('uscope 0.1.0')],
    ['pid', uint(70000)],
  ]),
);

const SCHEMA = 'clocks:\n  core: 1ns\nstorages:\n  rob: { slots: 4, fields: { pc: u64 } }\n';
control(
  'open',
  UP,
  {
    t: 'open',
    req: 7,
    name: 'soc/core0',
    session: { hex: SESSION },
    schema: SCHEMA,
    schema_name: 'core.yaml',
    dut: { core: 'µ-core', rev: 'a1' },
    interval_ps: '10000000',
    credit: 33554432,
    run: { hex: RUN },
    core: 0,
  },
  map([
    ['t', str('open')],
    ['req', uint(7)],
    ['name', str('soc/core0')],
    ['session', bin(SESSION)],
    ['schema', str(SCHEMA)],
    ['schema_name', str('core.yaml')],
    [
      'dut',
      map([
        ['core', str('µ-core')],
        ['rev', str('a1')],
      ]),
    ],
    ['interval_ps', uint(10000000)],
    ['credit', uint(33554432)],
    ['run', bin(RUN)],
    ['core', uint(0)],
  ]),
);
control(
  'open-minimal',
  UP,
  { t: 'open', req: 128, name: 'a', session: { hex: SESSION }, credit: 65536 },
  map([
    ['t', str('open')],
    ['req', uint(128)],
    ['name', str('a')],
    ['session', bin(SESSION)],
    ['credit', uint(65536)],
  ]),
);

const SHA = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
control(
  'open-generated',
  UP,
  {
    t: 'open',
    req: 1,
    name: 'core7',
    session: { hex: SESSION },
    credit: 65536,
    core: 7,
    schema_sha256: SHA,
    vars: { core: '7', rev: 'b=2' },
    memory: true,
  },
  map([
    ['t', str('open')],
    ['req', uint(1)],
    ['name', str('core7')],
    ['session', bin(SESSION)],
    ['credit', uint(65536)],
    ['core', uint(7)],
    ['schema_sha256', str(SHA)],
    [
      'vars',
      map([
        ['core', str('7')],
        ['rev', str('b=2')],
      ]),
    ],
    ['memory', TRUE],
  ]),
);
control(
  'close-skipped',
  UP,
  {
    t: 'close',
    trace: 3,
    session: { hex: SESSION },
    frames: '1000',
    strings: '12',
    rejected: '3',
    reasons: { OP_SLOT: '2', OP_TIME: '1' },
    skipped: '70000',
  },
  map([
    ['t', str('close')],
    ['trace', uint(3)],
    ['session', bin(SESSION)],
    ['frames', uint(1000)],
    ['strings', uint(12)],
    ['rejected', uint(3)],
    [
      'reasons',
      map([
        ['OP_SLOT', uint(2)],
        ['OP_TIME', uint(1)],
      ]),
    ],
    ['skipped', uint(70000)],
  ]),
);
control(
  'controlled',
  UP,
  {
    t: 'controlled',
    trace: 3,
    epoch: 65536,
    done: 9,
    disabled: { 'core0/lsu': true, noc: true },
    skipped: '70000',
  },
  map([
    ['t', str('controlled')],
    ['trace', uint(3)],
    ['epoch', uint(65536)],
    ['done', uint(9)],
    [
      'disabled',
      map([
        ['core0/lsu', TRUE],
        ['noc', TRUE],
      ]),
    ],
    ['skipped', uint(70000)],
  ]),
);
control(
  'controlled-failed',
  UP,
  {
    t: 'controlled',
    trace: 3,
    epoch: 65536,
    done: 10,
    disabled: {},
    skipped: '0',
    code: 'OP_SCOPE',
    msg: 'no scope "x"',
  },
  map([
    ['t', str('controlled')],
    ['trace', uint(3)],
    ['epoch', uint(65536)],
    ['done', uint(10)],
    ['disabled', map([])],
    ['skipped', uint(0)],
    ['code', str('OP_SCOPE')],
    ['msg', str('no scope "x"')],
  ]),
);
control(
  'ctl',
  UP,
  { t: 'ctl', req: 1, action: 'disable', trace: 'soc/core0', scope: 'core0/lsu', timeout_ms: 5000 },
  map([
    ['t', str('ctl')],
    ['req', uint(1)],
    ['action', str('disable')],
    ['trace', str('soc/core0')],
    ['scope', str('core0/lsu')],
    ['timeout_ms', uint(5000)],
  ]),
);
control(
  'ctl-status',
  UP,
  { t: 'ctl', req: 2, action: 'status' },
  map([
    ['t', str('ctl')],
    ['req', uint(2)],
    ['action', str('status')],
  ]),
);
control(
  'control',
  DOWN,
  { t: 'control', trace: 3, epoch: 65536, number: 9, action: 'disable', scope: 'core0/lsu' },
  map([
    ['t', str('control')],
    ['trace', uint(3)],
    ['epoch', uint(65536)],
    ['number', uint(9)],
    ['action', str('disable')],
    ['scope', str('core0/lsu')],
  ]),
);
control(
  'control-trigger',
  DOWN,
  { t: 'control', trace: 3, epoch: 65536, number: 4294967295, action: 'trigger', text: 'hang at 5 µs' },
  map([
    ['t', str('control')],
    ['trace', uint(3)],
    ['epoch', uint(65536)],
    ['number', uint(4294967295)],
    ['action', str('trigger')],
    ['text', str('hang at 5 µs')],
  ]),
);
control(
  'ctl_done',
  DOWN,
  {
    t: 'ctl_done',
    req: 1,
    traces: {
      'soc/core0': {
        outcome: 'pending',
        msg: 'no cycle has begun',
        state: 'recording',
        path: '/data/out/soc/core0.uscope',
        time_ps: '5000000000',
        frames: '1000',
        items: '7000',
        bytes: '34816',
        unacked: '4096',
        rate: '2000000',
        disabled: { noc: true },
        skipped: '12',
      },
    },
  },
  map([
    ['t', str('ctl_done')],
    ['req', uint(1)],
    [
      'traces',
      map([
        [
          'soc/core0',
          map([
            ['outcome', str('pending')],
            ['msg', str('no cycle has begun')],
            ['state', str('recording')],
            ['path', str('/data/out/soc/core0.uscope')],
            ['time_ps', uint(5000000000n)],
            ['frames', uint(1000)],
            ['items', uint(7000)],
            ['bytes', uint(34816)],
            ['unacked', uint(4096)],
            ['rate', uint(2000000)],
            ['disabled', map([['noc', TRUE]])],
            ['skipped', uint(12)],
          ]),
        ],
      ]),
    ],
  ]),
);
control(
  'flush',
  UP,
  { t: 'flush', trace: 3, epoch: 65536 },
  map([
    ['t', str('flush')],
    ['trace', uint(3)],
    ['epoch', uint(65536)],
  ]),
);

const SCHEMA_CHUNK = '0102030405060708'.repeat(40); // 320 bytes: bin 16
control(
  'opened',
  DOWN,
  {
    t: 'opened',
    req: 7,
    trace: 3,
    epoch: 3735928559,
    schema: { hex: SCHEMA_CHUNK },
    frames: '4294967296',
    strings: '300',
    interval_ps: '10000000',
    credit: 16777216,
    path: '/data/out/soc/core0.uscope',
  },
  map([
    ['t', str('opened')],
    ['req', uint(7)],
    ['trace', uint(3)],
    ['epoch', uint(3735928559)],
    ['schema', bin(SCHEMA_CHUNK)],
    ['frames', uint(4294967296n)],
    ['strings', uint(300)],
    ['interval_ps', uint(10000000)],
    ['credit', uint(16777216)],
    ['path', str('/data/out/soc/core0.uscope')],
  ]),
);

control(
  'opened-memory',
  DOWN,
  {
    t: 'opened',
    req: 1,
    trace: 1,
    epoch: 2,
    schema: { hex: '01' },
    frames: '0',
    strings: '0',
    interval_ps: '1000',
    credit: 65536,
    path: '/o/a.uscope',
    memory: true,
  },
  map([
    ['t', str('opened')],
    ['req', uint(1)],
    ['trace', uint(1)],
    ['epoch', uint(2)],
    ['schema', bin('01')],
    ['frames', uint(0)],
    ['strings', uint(0)],
    ['interval_ps', uint(1000)],
    ['credit', uint(65536)],
    ['path', str('/o/a.uscope')],
    ['memory', TRUE],
  ]),
);

/** @param {number} trace @param {number} epoch @param {number | bigint} frames @returns {[string, number[]][]} */
const ack = (trace, epoch, frames) => [
  ['t', str('ack')],
  ['trace', uint(trace)],
  ['epoch', uint(epoch)],
  ['frames', uint(frames)],
];
control('ack', DOWN, { t: 'ack', trace: 3, epoch: 65536, frames: '1000' }, map(ack(3, 65536, 1000)));
control('ack-zero', DOWN, { t: 'ack', trace: 1, epoch: 0, frames: '0' }, map(ack(1, 0, 0)));
control(
  'ack-64-bit',
  DOWN,
  { t: 'ack', trace: 255, epoch: 256, frames: '18446744073709551615' },
  map(ack(255, 256, 0xffff_ffff_ffff_ffffn)),
);
control(
  'ack-wide-integers',
  DOWN,
  { t: 'ack', trace: 3, epoch: 9, frames: '5' },
  map([
    ['t', str('ack')],
    ['trace', [0xcd, ...be(3, 2)]],
    ['epoch', [0xce, ...be(9, 4)]],
    ['frames', [0xcf, ...be(5, 8)]],
  ]),
  { decodeOnly: true },
);
control(
  'ack-unknown-keys',
  DOWN,
  { t: 'ack', trace: 3, epoch: 9, frames: '5' },
  map([
    ['later', [0x93, 0xc0, 0xe0, 0xcb, ...be(0x3ff8000000000000n, 8)]], // [nil, -32, 1.5]
    ['t', str('ack')],
    ['frames', uint(5)],
    [
      'nested',
      map([
        ['a', map([['b', [0xc2]]])],
        ['c', [0xd0, 0x80]],
      ]),
    ],
    ['epoch', uint(9)],
    ['trace', uint(3)],
  ]),
  { decodeOnly: true },
);

control(
  'stalled',
  DOWN,
  {
    t: 'stalled',
    trace: 3,
    code: 'WRITER_DISK_FULL',
    msg: 'no space left: free some, the trace goes on by itself',
  },
  map([
    ['t', str('stalled')],
    ['trace', uint(3)],
    ['code', str('WRITER_DISK_FULL')],
    ['msg', str('no space left: free some, the trace goes on by itself')],
  ]),
);
control(
  'error',
  DOWN,
  { t: 'error', trace: 3, epoch: 65536, code: 'BRIDGE_RECORD', msg: 'slot 9 of "rob" is not below 4' },
  map([
    ['t', str('error')],
    ['trace', uint(3)],
    ['epoch', uint(65536)],
    ['code', str('BRIDGE_RECORD')],
    ['msg', str('slot 9 of "rob" is not below 4')],
  ]),
);
control(
  'error-open',
  DOWN,
  { t: 'error', req: 7, code: 'BRIDGE_NAME_BUSY', msg: 'another session writes "core0"' },
  map([
    ['t', str('error')],
    ['req', uint(7)],
    ['code', str('BRIDGE_NAME_BUSY')],
    ['msg', str('another session writes "core0"')],
  ]),
);
control(
  'error-retry',
  DOWN,
  { t: 'error', trace: 3, epoch: 65536, code: 'BRIDGE_SEQUENCE', msg: 'message 5 follows 3', retry: true },
  map([
    ['t', str('error')],
    ['trace', uint(3)],
    ['epoch', uint(65536)],
    ['code', str('BRIDGE_SEQUENCE')],
    ['msg', str('message 5 follows 3')],
    ['retry', TRUE],
  ]),
);
control(
  'error-version',
  DOWN,
  { t: 'error', code: 'BRIDGE_VERSION', msg: 'the client speaks 2', v: 1 },
  map([
    ['t', str('error')],
    ['code', str('BRIDGE_VERSION')],
    ['msg', str('the client speaks 2')],
    ['v', uint(1)],
  ]),
);

control(
  'close',
  UP,
  {
    t: 'close',
    trace: 3,
    session: { hex: SESSION },
    frames: '1000',
    strings: '12',
    rejected: '3',
    reasons: { OP_SLOT: '2', OP_TIME: '1' },
  },
  map([
    ['t', str('close')],
    ['trace', uint(3)],
    ['session', bin(SESSION)],
    ['frames', uint(1000)],
    ['strings', uint(12)],
    ['rejected', uint(3)],
    [
      'reasons',
      map([
        ['OP_SLOT', uint(2)],
        ['OP_TIME', uint(1)],
      ]),
    ],
  ]),
);
control(
  'closed',
  DOWN,
  {
    t: 'closed',
    trace: 3,
    session: { hex: SESSION },
    stats: {
      path: '/data/out/soc/core0.uscope',
      status: 1,
      frames: '1000',
      items: '7000',
      strings: '12',
      segments: 4,
      bytes: '34816',
      total_time_ps: '5000000000',
      rejected: '3',
      lost: '0',
    },
  },
  map([
    ['t', str('closed')],
    ['trace', uint(3)],
    ['session', bin(SESSION)],
    [
      'stats',
      map([
        ['path', str('/data/out/soc/core0.uscope')],
        ['status', uint(1)],
        ['frames', uint(1000)],
        ['items', uint(7000)],
        ['strings', uint(12)],
        ['segments', uint(4)],
        ['bytes', uint(34816)],
        ['total_time_ps', uint(5000000000n)],
        ['rejected', uint(3)],
        ['lost', uint(0)],
      ]),
    ],
  ]),
);
control('ping', UP, { t: 'ping' }, map([['t', str('ping')]]));
control('pong', DOWN, { t: 'pong' }, map([['t', str('pong')]]));

// ---------------------------------------------------------------------------------------------- data header

/**
 * @param {{magic?: number, flags?: number, headerSize?: number, trace?: number, epoch?: number, seq?: bigint, firstFrame?: bigint,
 *   payloadSize?: number, reserved?: number, reserved64?: bigint}} h
 */
const header = (h) => [
  ...le(h.magic ?? 0x54414475, 4),
  ...le(h.flags ?? 0, 2),
  ...le(h.headerSize ?? 48, 2),
  ...le(h.trace ?? 3, 4),
  ...le(h.epoch ?? 65536, 4),
  ...le(h.seq ?? 0n, 8),
  ...le(h.firstFrame ?? 0n, 8),
  ...le(h.payloadSize ?? 16, 4),
  ...le(h.reserved ?? 0, 4),
  ...le(h.reserved64 ?? 0n, 8),
];
emit('data-header', header({ seq: 2n, firstFrame: 1000n, payloadSize: 65536 }), {
  kind: 'data-header',
  header: { flags: 0, trace: 3, epoch: 65536, seq: '2', first_frame: '1000', payload_size: 65536 },
});
emit(
  'data-header-continues',
  header({
    flags: 1,
    trace: 0xffffffff,
    epoch: 0x01020304,
    seq: 0x1122334455667788n,
    firstFrame: 0xffeeddccbbaa9988n,
    payloadSize: 1048576,
  }),
  {
    kind: 'data-header',
    header: {
      flags: 1,
      trace: 4294967295,
      epoch: 16909060,
      seq: '1234605616436508552',
      first_frame: '18441921395520346504',
      payload_size: 1048576,
    },
  },
);

emit(
  'data-header-in-memory',
  header({ flags: 3, seq: 1n, firstFrame: 5n, payloadSize: 160, reserved64: 0x100001000n }),
  {
    kind: 'data-header',
    header: {
      flags: 3,
      trace: 3,
      epoch: 65536,
      seq: '1',
      first_frame: '5',
      payload_size: 160,
      offset: '4294971392',
    },
  },
);

// ---------------------------------------------------------------------------------------------- records

/** @param {number} action @param {number} storage @param {number} slot @param {number} field @param {bigint} value */
const op = (action, storage, slot, field, value) => [
  0x01,
  action,
  ...le(storage, 2),
  ...le(slot, 2),
  ...le(field, 2),
  ...le(value, 8),
];
/** @param {number[]} bytes to a multiple of 16 */
const padded = (bytes) => [...bytes, ...new Array((16 - (bytes.length % 16)) % 16).fill(0)];
/** @param {number} type @param {number[]} payload */
const event = (type, payload) => [
  0x03,
  0,
  ...le(type, 2),
  ...le(payload.length, 4),
  ...[...payload, 0, 0, 0, 0, 0, 0, 0, 0].slice(0, 8),
  ...padded(payload.slice(8)),
];
/** @param {bigint} time */
const begin = (time) => [0x10, 0, 0, 0, 0, 0, 0, 0, ...le(time, 8)];
/** @param {number} items @param {bigint} ordinal */
const end = (items, ordinal) => [0x11, 0, 0, 0, ...le(items, 4), ...le(ordinal, 8)];
/** @param {bigint} index @param {string} text */
const string = (index, text) => [
  0x12,
  0,
  0,
  0,
  ...le(utf8(text).length, 4),
  ...le(index, 8),
  ...padded(utf8(text)),
];
/** @param {number} storage @param {number} offset @param {number} total @param {number[]} part */
const snapshot = (storage, offset, total, part) => [
  0x13,
  0,
  ...le(storage, 2),
  ...le(part.length, 4),
  ...le(offset, 4),
  ...le(total, 4),
  ...padded(part),
];
const count = (/** @type {number} */ n) => Array.from({ length: n }, (_, i) => i + 1);
const digits = (/** @type {number[]} */ bytes) => Buffer.from(bytes).toString('hex');

emit(
  'records-frame',
  [
    ...begin(0x0000_0001_0000_0fa0n),
    ...op(1, 2, 3, 1, 0x8000_0000n),
    ...op(3, 258, 0, 0, 0xffff_ffff_ffff_ffffn),
    ...op(2, 2, 511, 0, 0n),
    ...op(4, 2, 0, 1, 7n),
    ...event(1, [0xaa]),
    ...event(4, count(8)),
    ...event(5, count(9)),
    ...event(6, count(24)),
    ...event(7, count(25)),
    ...end(9, 41n),
    ...begin(0x0000_0001_0000_0fa0n),
    ...end(0, 42n),
  ],
  {
    kind: 'records',
    records: [
      { kind: 'begin', time_ps: '4294971296' },
      { kind: 'op', action: 1, storage: 2, slot: 3, field: 1, value: '2147483648' },
      { kind: 'op', action: 3, storage: 258, slot: 0, field: 0, value: '18446744073709551615' },
      { kind: 'op', action: 2, storage: 2, slot: 511, field: 0, value: '0' },
      { kind: 'op', action: 4, storage: 2, slot: 0, field: 1, value: '7' },
      { kind: 'event', type: 1, payload: { hex: 'aa' } },
      { kind: 'event', type: 4, payload: { hex: digits(count(8)) } },
      { kind: 'event', type: 5, payload: { hex: digits(count(9)) } },
      { kind: 'event', type: 6, payload: { hex: digits(count(24)) } },
      { kind: 'event', type: 7, payload: { hex: digits(count(25)) } },
      { kind: 'end', items: 9, ordinal: '41' },
      { kind: 'begin', time_ps: '4294971296' },
      { kind: 'end', items: 0, ordinal: '42' },
    ],
  },
);
emit(
  'records-string',
  [
    ...string(0n, ''),
    ...string(1n, 'ADDI x1, x2'),
    ...string(2n, 'sixteen bytes ..'),
    ...string(0x1_0000_0003n, 'µScope: 17 bytes'),
  ],
  {
    kind: 'records',
    records: [
      { kind: 'string', index: '0', text: '' },
      { kind: 'string', index: '1', text: 'ADDI x1, x2' },
      { kind: 'string', index: '2', text: 'sixteen bytes ..' },
      { kind: 'string', index: '4294967299', text: 'µScope: 17 bytes' },
    ],
  },
);
emit(
  'records-snapshot',
  [...snapshot(2, 0, 33, count(32)), ...snapshot(2, 32, 33, [0x21]), ...begin(8000n), ...end(0, 43n)],
  {
    kind: 'records',
    records: [
      { kind: 'snapshot', storage: 2, offset: 0, total: 33, part: { hex: digits(count(32)) } },
      { kind: 'snapshot', storage: 2, offset: 32, total: 33, part: { hex: '21' } },
      { kind: 'begin', time_ps: '8000' },
      { kind: 'end', items: 0, ordinal: '43' },
    ],
  },
);

// ---------------------------------------------------------------------------------------------- refused

bad('empty', [], 'no bytes at all');
bad('not-a-map', [0x93, 1, 2, 3], 'an array');
bad('trailing', [...map([['t', str('ping')]]), 0x00], 'bytes after the map');
bad('truncated', map(helloEntries).slice(0, -3), 'ends inside an integer');
bad('no-type', map([['v', uint(1)]]), 'no key t');
bad('type-not-a-string', map([['t', uint(1)]]), 't is an integer');
bad('unknown-type', map([['t', str('teleport')]]), 'unknown t');
bad('key-not-a-string', [0x81, 0x01, 0x02], 'a key that is an integer');
bad('duplicate-key', [0x82, ...str('t'), ...str('ping'), ...str('t'), ...str('hello')], 'the key t twice');
bad(
  'map-too-long',
  [0xdf, 0xff, 0xff, 0xff, 0xff, ...str('t'), ...str('ping')],
  'a map of 4,294,967,295 entries in 11 bytes',
);
bad(
  'string-too-long',
  [0x81, ...str('t'), 0xdb, 0xff, 0xff, 0xff, 0xff, 0x70],
  'a string of 4 GiB in 1 byte',
);
bad(
  'extension',
  map([
    ['t', str('ping')],
    ['x', [0xc7, 0x01, 0x72, 0x00]],
  ]),
  'an extension type',
);
bad(
  'unused-byte',
  map([
    ['t', str('ping')],
    ['x', [0xc1]],
  ]),
  'the byte 0xc1, which msgpack never uses',
);
bad(
  'depth',
  [0x82, ...str('t'), ...str('ping'), ...str('x'), ...new Array(200).fill(0x91), 0xc0],
  '200 nested arrays',
);
bad('utf8', [0x82, ...str('t'), ...str('ping'), 0xa1, 0xff, 0xc0], 'a key that is not UTF-8');
bad(
  'hello-negative-pid',
  map(helloEntries.map(([key, value]) => [key, key === 'pid' ? [0xff] : value])),
  'pid -1',
);
bad(
  'hello-float-version',
  map([
    ['t', str('hello')],
    ['v', [0xcb, ...be(0x3ff0000000000000n, 8)]],
  ]),
  'v is the float 1.0',
);
bad(
  'open-short-session',
  map([
    ['t', str('open')],
    ['req', uint(1)],
    ['name', str('a')],
    ['session', bin(SESSION.slice(2))],
    ['credit', uint(65536)],
  ]),
  'session of 15 bytes',
);
bad(
  'open-no-credit',
  map([
    ['t', str('open')],
    ['req', uint(1)],
    ['name', str('a')],
    ['session', bin(SESSION)],
  ]),
  'no credit',
);
bad(
  'open-dut-value',
  map([
    ['t', str('open')],
    ['req', uint(1)],
    ['name', str('a')],
    ['session', bin(SESSION)],
    ['dut', map([['core', uint(1)]])],
    ['credit', uint(65536)],
  ]),
  'a DUT property that is not a string',
);
bad(
  'close-frames-string',
  map([
    ['t', str('close')],
    ['trace', uint(1)],
    ['session', bin(SESSION)],
    ['frames', str('1000')],
  ]),
  'frames is a string',
);
bad(
  'ack-64-bit-trace',
  map([
    ['t', str('ack')],
    ['trace', uint(0x1_0000_0000n)],
    ['epoch', uint(1)],
    ['frames', uint(1)],
  ]),
  'trace does not fit 32 bits',
  { direction: DOWN },
);

/** @param {string} name @param {number[]} bytes @param {string} why @param {number} [payloadSize] */
function badHeader(name, bytes, why, payloadSize = 16) {
  emit(`bad-data-${name}`, bytes, { kind: 'data-header', error: 'BRIDGE_MESSAGE', why, payloadSize });
}
badHeader('magic', header({ magic: 0x54414476 }), 'wrong magic');
badHeader('short', header({}).slice(0, 47), 'a header of 47 bytes');
badHeader('long', [...header({}), 0], 'a header of 49 bytes');
badHeader('header-size', header({ headerSize: 64 }), 'header_size 64');
badHeader('flags', header({ flags: 2 }), 'an undefined flag');
badHeader('reserved', header({ reserved: 1 }), 'a reserved field that is not 0');
badHeader('reserved-64', header({ reserved64: 1n }), 'a reserved field that is not 0');
badHeader('size-differs', header({ payloadSize: 32 }), 'payload_size 32 before a second part of 16 bytes');
badHeader('size-unaligned', header({ payloadSize: 24 }), 'payload_size 24', 24);
badHeader('size-above-limit', header({ payloadSize: 1048592 }), 'payload_size 1 MiB + 16', 1048592);

/** @param {string} name @param {number[]} bytes @param {string} why */
function badRecords(name, bytes, why) {
  emit(`bad-records-${name}`, bytes, { kind: 'records', error: 'BRIDGE_RECORD', why });
}
badRecords('kind', [...begin(0n), 0x02, ...new Array(15).fill(0), ...end(0, 0n)], 'record kind 0x02');
badRecords('end-without-begin', end(0, 0n), 'END outside a frame');
badRecords('begin-nested', [...begin(0n), ...begin(0n), ...end(0, 0n)], 'BEGIN inside a frame');
badRecords('op-outside-frame', op(1, 0, 0, 0, 1n), 'OP outside a frame');
badRecords('end-items', [...begin(0n), ...end(1, 0n)], 'END counts one item, the frame has none');
badRecords('end-ordinal', [...begin(0n), ...end(0, 5n)], 'END of frame 5 as the first');
badRecords('time-backwards', [...begin(10n), ...end(0, 0n), ...begin(9n), ...end(0, 1n)], 'time 9 after 10');
badRecords(
  'payload-outside',
  [0x12, 0, 0, 0, ...le(17, 4), ...le(0, 8), ...new Array(16).fill(0x61)],
  'a string of 17 bytes with 16 bytes in the message',
);
badRecords('string-gap', string(1n, 'a'), 'string 1 as the first');
