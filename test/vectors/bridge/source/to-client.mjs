// @ts-check
/** Control messages of the daemon. */
import { be } from './bytes.mjs';
import { blob, num, object, text, wide, yes } from './fields.mjs';
import { map, str, uint } from './msgpack.mjs';
import { DOWN } from './output.mjs';
import { SESSION } from './sessions.mjs';

const SCHEMA_CHUNK = '0102030405060708'.repeat(40); // 320 bytes: bin 16

/** @param {import('./output.mjs').Output} output */
export function messagesToClient(output) {
  output.control('welcome', DOWN, {
    t: text('welcome'),
    v: num(1),
    daemon: text('uscope 0.1.0'),
    pid: num(70000),
  });
  opened(output);
  acknowledgements(output);
  commands(output);
  output.control('stalled', DOWN, {
    t: text('stalled'),
    trace: num(3),
    code: text('WRITER_DISK_FULL'),
    msg: text('no space left: free some, the trace goes on by itself'),
  });
  errors(output);
  closed(output);
  output.control('pong', DOWN, { t: text('pong') });
}

/** @param {import('./output.mjs').Output} output */
function opened(output) {
  output.control('opened', DOWN, {
    t: text('opened'),
    req: num(7),
    trace: num(3),
    epoch: num(3735928559),
    schema: blob(SCHEMA_CHUNK),
    frames: wide(4294967296n),
    strings: wide(300),
    interval_ps: wide(10000000),
    credit: num(16777216),
    path: text('/data/out/soc/core0.uscope'),
  });
  const local = {
    t: text('opened'),
    req: num(1),
    trace: num(1),
    epoch: num(2),
    schema: blob('01'),
    frames: wide(0),
    strings: wide(0),
    interval_ps: wide(1000),
    credit: num(65536),
    path: text('/o/a.uscope'),
    memory: yes,
  };
  output.control('opened-memory', DOWN, local);
  output.control('opened-lanes', DOWN, { ...local, lanes: yes });
}

/** @param {import('./output.mjs').Output} output */
function acknowledgements(output) {
  /** @param {number} trace @param {number} epoch @param {number | bigint} frames */
  const ack = (trace, epoch, frames) => ({
    t: text('ack'),
    trace: num(trace),
    epoch: num(epoch),
    frames: wide(frames),
  });
  output.control('ack', DOWN, ack(3, 65536, 1000));
  output.control('ack-zero', DOWN, ack(1, 0, 0));
  output.control('ack-64-bit', DOWN, ack(255, 256, 0xffff_ffff_ffff_ffffn));
  output.control(
    'ack-wide-integers',
    DOWN,
    {
      t: text('ack'),
      trace: num(3, [0xcd, ...be(3, 2)]),
      epoch: num(9, [0xce, ...be(9, 4)]),
      frames: wide(5, [0xcf, ...be(5, 8)]),
    },
    { decodeOnly: true },
  );
  const withUnknownKeys = map({
    later: [0x93, 0xc0, 0xe0, 0xcb, ...be(0x3ff8000000000000n, 8)], // [nil, -32, 1.5]
    t: str('ack'),
    frames: uint(5),
    nested: map({ a: map({ b: [0xc2] }), c: [0xd0, 0x80] }),
    epoch: uint(9),
    trace: uint(3),
  });
  output.emit('ack-unknown-keys', withUnknownKeys, {
    kind: 'control',
    direction: DOWN,
    message: { t: 'ack', trace: 3, epoch: 9, frames: '5' },
    decodeOnly: true,
  });
}

/** @param {import('./output.mjs').Output} output */
function commands(output) {
  output.control('control', DOWN, {
    t: text('control'),
    trace: num(3),
    epoch: num(65536),
    number: num(9),
    action: text('disable'),
    scope: text('core0/lsu'),
  });
  output.control('control-trigger', DOWN, {
    t: text('control'),
    trace: num(3),
    epoch: num(65536),
    number: num(4294967295),
    action: text('trigger'),
    text: text('hang at 5 µs'),
  });
  const core0 = {
    outcome: text('pending'),
    msg: text('no cycle has begun'),
    state: text('recording'),
    path: text('/data/out/soc/core0.uscope'),
    time_ps: wide(5000000000n),
    frames: wide(1000),
    items: wide(7000),
    bytes: wide(34816),
    unacked: wide(4096),
    rate: wide(2000000),
    disabled: object({ noc: yes }),
    skipped: wide(12),
  };
  output.control('ctl_done', DOWN, {
    t: text('ctl_done'),
    req: num(1),
    traces: object({ 'soc/core0': object(core0) }),
  });
}

/** @param {import('./output.mjs').Output} output */
function errors(output) {
  output.control('error', DOWN, {
    t: text('error'),
    trace: num(3),
    epoch: num(65536),
    code: text('BRIDGE_RECORD'),
    msg: text('slot 9 of "rob" is not below 4'),
  });
  output.control('error-open', DOWN, {
    t: text('error'),
    req: num(7),
    code: text('BRIDGE_NAME_BUSY'),
    msg: text('another session writes "core0"'),
  });
  output.control('error-retry', DOWN, {
    t: text('error'),
    trace: num(3),
    epoch: num(65536),
    code: text('BRIDGE_SEQUENCE'),
    msg: text('message 5 follows 3'),
    retry: yes,
  });
  output.control('error-version', DOWN, {
    t: text('error'),
    code: text('BRIDGE_VERSION'),
    msg: text('the client speaks 2'),
    v: num(1),
  });
}

/** @param {import('./output.mjs').Output} output */
function closed(output) {
  const stats = {
    path: text('/data/out/soc/core0.uscope'),
    status: num(1),
    frames: wide(1000),
    items: wide(7000),
    strings: wide(12),
    segments: num(4),
    bytes: wide(34816),
    total_time_ps: wide(5000000000n),
    rejected: wide(3),
    lost: wide(0),
  };
  output.control('closed', DOWN, {
    t: text('closed'),
    trace: num(3),
    session: blob(SESSION),
    stats: object(stats),
  });
}
