// @ts-check
/** Data headers and records as a client sends them. */
import {
  addLanes,
  begin,
  end,
  event,
  eventLanes,
  header,
  op,
  setLanes,
  snapshot,
  string,
} from './data-bytes.mjs';

const count = (/** @type {number} */ n) => Array.from({ length: n }, (_, i) => i + 1);
const digits = (/** @type {number[]} */ bytes) => Buffer.from(bytes).toString('hex');

/** @param {import('./output.mjs').Output} output */
export function dataHeaders(output) {
  output.emit('data-header', header({ seq: 2n, firstFrame: 1000n, payloadSize: 65536 }), {
    kind: 'data-header',
    header: { flags: 0, trace: 3, epoch: 65536, seq: '2', first_frame: '1000', payload_size: 65536 },
  });
  output.emit(
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

  output.emit(
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

  output.emit('data-header-lanes', header({ flags: 5, seq: 3n, firstFrame: 6n, payloadSize: 48 }), {
    kind: 'data-header',
    header: { flags: 5, trace: 3, epoch: 65536, seq: '3', first_frame: '6', payload_size: 48 },
  });
}

/** @param {import('./output.mjs').Output} output */
export function dataRecords(output) {
  output.emit(
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
  output.emit(
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
  output.emit(
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
  laneRecords(output);
}

/** @param {import('./output.mjs').Output} output */
function laneRecords(output) {
  const values = [0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88];
  const item = (/** @type {number} */ storage) => ({
    kind: 'op',
    action: 3,
    storage,
    slot: 0,
    field: 0,
    value: '1',
  });
  const set = (/** @type {number} */ slot, /** @type {string} */ value) => ({
    kind: 'op',
    action: 1,
    storage: 2,
    slot,
    field: 1,
    value,
  });
  const note = (/** @type {string} */ payload) => ({ kind: 'event', type: 4, payload: { hex: payload } });
  output.emit(
    'records-lanes',
    [
      ...begin(9000n),
      ...op(1, 2, 3, 1, 5n),
      ...addLanes(200, 0x8000_0001_8000_0001n),
      ...addLanes(65535, 1n),
      ...addLanes(0, 0n),
      ...setLanes(0b1000_0101, 2, 500, 1, values),
      ...setLanes(1, 2, 65535, 1, values),
      ...eventLanes(0b0100_0010, 4, 8, 61, values),
      ...eventLanes(0b1000_0000, 4, 2, 8, values),
      ...eventLanes(1, 4, 0, 0, values),
      ...end(9, 44n),
      ...begin(9000n),
      ...end(0, 45n),
    ],
    {
      kind: 'records',
      records: [
        { kind: 'begin', time_ps: '9000' },
        { kind: 'op', action: 1, storage: 2, slot: 3, field: 1, value: '5' },
        { kind: 'add_lanes', storage: 200, lanes: '9223372043297226753' },
        { kind: 'add_lanes', storage: 65535, lanes: '1' },
        { kind: 'add_lanes', storage: 0, lanes: '0' },
        { kind: 'set_lanes', lanes: 133, storage: 2, slot: 500, field: 1, values: { hex: digits(values) } },
        { kind: 'set_lanes', lanes: 1, storage: 2, slot: 65535, field: 1, values: { hex: digits(values) } },
        { kind: 'event_lanes', lanes: 66, type: 4, size: 8, shift: 61, values: { hex: digits(values) } },
        { kind: 'event_lanes', lanes: 128, type: 4, size: 2, shift: 8, values: { hex: digits(values) } },
        { kind: 'event_lanes', lanes: 1, type: 4, size: 0, shift: 0, values: { hex: digits(values) } },
        { kind: 'end', items: 9, ordinal: '44' },
        { kind: 'begin', time_ps: '9000' },
        { kind: 'end', items: 0, ordinal: '45' },
      ],
      unfolded: [
        { kind: 'begin', time_ps: '9000' },
        { kind: 'op', action: 1, storage: 2, slot: 3, field: 1, value: '5' },
        ...[200, 231, 232, 263, 65535].map(item),
        set(500, '17'),
        set(502, '51'),
        set(507, '136'),
        set(65535, '17'),
        note('2200000000000020'),
        note('77000000000000c0'),
        note('8807'),
        note(''),
        { kind: 'end', items: 14, ordinal: '44' },
        { kind: 'begin', time_ps: '9000' },
        { kind: 'end', items: 0, ordinal: '45' },
      ],
    },
  );
}
