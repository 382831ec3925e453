// @ts-check
/** What must be refused, each with the code that it is refused with. */
import { be, le } from './bytes.mjs';
import { addLanes, begin, end, eventLanes, header, op, setLanes, string } from './data-bytes.mjs';
import { object } from './fields.mjs';
import { bin, map, str, uint } from './msgpack.mjs';
import { DOWN, UP } from './output.mjs';
import { HELLO, SESSION } from './sessions.mjs';

/** @typedef {import('./output.mjs').Output} Output */

/** @param {Output} output */
export function refusedMessages(output) {
  /** @param {string} name @param {number[]} bytes @param {string} why @param {string} [direction] */
  const bad = (name, bytes, why, direction = UP) =>
    output.emit(`bad-${name}`, bytes, { kind: 'control', direction, error: 'BRIDGE_MESSAGE', why });
  brokenMsgpack(bad);
  wrongTypes(bad);
}

/** @typedef {(name: string, bytes: number[], why: string, direction?: string) => void} Bad */

const ping = str('ping');

/** @param {Bad} bad */
function brokenMsgpack(bad) {
  bad('empty', [], 'no bytes at all');
  bad('not-a-map', [0x93, 1, 2, 3], 'an array');
  bad('trailing', [...map({ t: ping }), 0x00], 'bytes after the map');
  bad('truncated', object(HELLO).bytes.slice(0, -3), 'ends inside an integer');
  bad('key-not-a-string', [0x81, 0x01, 0x02], 'a key that is an integer');
  bad('duplicate-key', [0x82, ...str('t'), ...ping, ...str('t'), ...str('hello')], 'the key t twice');
  bad(
    'map-too-long',
    [0xdf, 0xff, 0xff, 0xff, 0xff, ...str('t'), ...ping],
    'a map of 4,294,967,295 entries in 11 bytes',
  );
  bad(
    'string-too-long',
    [0x81, ...str('t'), 0xdb, 0xff, 0xff, 0xff, 0xff, 0x70],
    'a string of 4 GiB in 1 byte',
  );
  bad('extension', map({ t: ping, x: [0xc7, 0x01, 0x72, 0x00] }), 'an extension type');
  bad('unused-byte', map({ t: ping, x: [0xc1] }), 'the byte 0xc1, which msgpack never uses');
  bad(
    'depth',
    [0x82, ...str('t'), ...ping, ...str('x'), ...new Array(200).fill(0x91), 0xc0],
    '200 nested arrays',
  );
  bad('utf8', [0x82, ...str('t'), ...ping, 0xa1, 0xff, 0xc0], 'a key that is not UTF-8');
}

/** @param {Bad} bad */
function wrongTypes(bad) {
  bad('no-type', map({ v: uint(1) }), 'no key t');
  bad('type-not-a-string', map({ t: uint(1) }), 't is an integer');
  bad('unknown-type', map({ t: str('teleport') }), 'unknown t');
  const negative = object({ ...HELLO, pid: { json: -1, bytes: [0xff] } });
  bad('hello-negative-pid', negative.bytes, 'pid -1');
  const one = [0xcb, ...be(0x3ff0000000000000n, 8)];
  bad('hello-float-version', map({ t: str('hello'), v: one }), 'v is the float 1.0');
  const open = { t: str('open'), req: uint(1), name: str('a') };
  const session = bin(SESSION);
  const credit = uint(65536);
  const short = bin(SESSION.slice(2));
  bad('open-short-session', map({ ...open, session: short, credit }), 'session of 15 bytes');
  bad('open-short-secret', map({ ...open, session, credit, secret: bin(SESSION) }), 'secret of 16 bytes');
  bad('open-no-credit', map({ ...open, session }), 'no credit');
  const dut = map({ core: uint(1) });
  bad('open-dut-value', map({ ...open, session, dut, credit }), 'a DUT property that is not a string');
  const frames = str('1000');
  bad('close-frames-string', map({ t: str('close'), trace: uint(1), session, frames }), 'frames is a string');
  bad(
    'ack-64-bit-trace',
    map({ t: str('ack'), trace: uint(0x1_0000_0000n), epoch: uint(1), frames: uint(1) }),
    'trace does not fit 32 bits',
    DOWN,
  );
}

/** @param {Output} output */
export function refusedHeaders(output) {
  /** @param {string} name @param {number[]} bytes @param {string} why @param {number} [payloadSize] */
  const bad = (name, bytes, why, payloadSize = 16) =>
    output.emit(`bad-data-${name}`, bytes, {
      kind: 'data-header',
      error: 'BRIDGE_MESSAGE',
      why,
      payloadSize,
    });
  bad('magic', header({ magic: 0x54414476 }), 'wrong magic');
  bad('short', header({}).slice(0, 47), 'a header of 47 bytes');
  bad('long', [...header({}), 0], 'a header of 49 bytes');
  bad('header-size', header({ headerSize: 64 }), 'header_size 64');
  bad('flags', header({ flags: 8 }), 'an undefined flag');
  bad('in-memory', header({ flags: 2 }), 'IN_MEMORY, and a second part');
  bad('reserved', header({ reserved: 1 }), 'a reserved field that is not 0');
  bad('reserved-64', header({ reserved64: 1n }), 'a reserved field that is not 0');
  bad('size-differs', header({ payloadSize: 32 }), 'payload_size 32 before a second part of 16 bytes');
  bad('size-unaligned', header({ payloadSize: 24 }), 'payload_size 24', 24);
  bad('size-above-limit', header({ payloadSize: 1048592 }), 'payload_size 1 MiB + 16', 1048592);
}

/** @param {Output} output */
export function refusedRecords(output) {
  /** @param {string} name @param {number[]} bytes @param {string} why */
  const bad = (name, bytes, why) =>
    output.emit(`bad-records-${name}`, bytes, { kind: 'records', error: 'BRIDGE_RECORD', why });
  bad('kind', [...begin(0n), 0x02, ...new Array(15).fill(0), ...end(0, 0n)], 'record kind 0x02');
  bad('end-without-begin', end(0, 0n), 'END outside a frame');
  bad('begin-nested', [...begin(0n), ...begin(0n), ...end(0, 0n)], 'BEGIN inside a frame');
  bad('op-outside-frame', op(1, 0, 0, 0, 1n), 'OP outside a frame');
  bad('end-items', [...begin(0n), ...end(1, 0n)], 'END counts one item, the frame has none');
  bad('end-ordinal', [...begin(0n), ...end(0, 5n)], 'END of frame 5 as the first');
  bad('time-backwards', [...begin(10n), ...end(0, 0n), ...begin(9n), ...end(0, 1n)], 'time 9 after 10');
  bad(
    'payload-outside',
    [0x12, 0, 0, 0, ...le(17, 4), ...le(0, 8), ...new Array(16).fill(0x61)],
    'a string of 17 bytes with 16 bytes in the message',
  );
  bad('string-gap', string(1n, 'a'), 'string 1 as the first');
  refusedLanes(output);
}

/** @param {Output} output */
function refusedLanes(output) {
  /** Alone in a frame, behind a whole one. @param {string} name @param {number[]} record @param {string} why @param {number} [flags] */
  const bad = (name, record, why, flags = 4) =>
    output.emit(
      `bad-records-lanes-${name}`,
      [...begin(0n), ...end(0, 0n), ...begin(0n), ...record, ...end(1, 1n)],
      { kind: 'records', flags, error: 'BRIDGE_RECORD', why },
    );
  const values = new Array(8).fill(1);
  /** @param {number[]} record @param {number} at */
  const withOne = (record, at) => record.with(at, 1);
  bad('unannounced', setLanes(1, 0, 0, 0, values), 'SET_LANES in a message without LANES', 0);
  bad('items', [...setLanes(1, 0, 0, 0, values), ...setLanes(3, 0, 0, 0, values)], 'two counted as one');
  bad('storage', addLanes(0xffc1, 1n << 63n), 'storage 65536');
  bad('slot', setLanes(0x80, 0, 0xfff9, 0, values), 'slot 65536');
  bad('payload', eventLanes(1, 0, 9, 0, values), 'a payload of 9 bytes');
  bad('shift', eventLanes(1, 0, 4, 64, values), 'a shift by 64 bits');
  bad('add-reserved', withOne(addLanes(0, 1n), 1), 'ADD_LANES with a reserved byte that is not 0');
  bad('add-reserved-32', withOne(addLanes(0, 1n), 7), 'ADD_LANES with a reserved word that is not 0');
  bad('event-reserved', withOne(eventLanes(1, 0, 4, 0, values), 6), 'EVENT_LANES with a reserved field');
}
