// @ts-check
/** Control messages of a client, and of `uscope ctl`. */
import { blob, num, object, text, wide, yes } from './fields.mjs';
import { UP } from './output.mjs';
import { HELLO, OWNED_SESSION, RUN, SECRET, SESSION } from './sessions.mjs';

const SCHEMA = 'clocks:\n  core: 1ns\nstorages:\n  rob: { slots: 4, fields: { pc: u64 } }\n';
const SHA = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

/** @param {import('./output.mjs').Output} output */
export function messagesToDaemon(output) {
  output.control('hello', UP, HELLO);
  opens(output);
  output.control('controlled', UP, {
    t: text('controlled'),
    trace: num(3),
    epoch: num(65536),
    done: num(9),
    disabled: object({ 'core0/lsu': yes, noc: yes }),
    skipped: wide(70000),
  });
  output.control('controlled-failed', UP, {
    t: text('controlled'),
    trace: num(3),
    epoch: num(65536),
    done: num(10),
    disabled: object({}),
    skipped: wide(0),
    code: text('OP_SCOPE'),
    msg: text('no scope "x"'),
  });
  output.control('ctl', UP, {
    t: text('ctl'),
    req: num(1),
    action: text('disable'),
    trace: text('soc/core0'),
    scope: text('core0/lsu'),
    timeout_ms: num(5000),
  });
  output.control('ctl-status', UP, { t: text('ctl'), req: num(2), action: text('status') });
  output.control('flush', UP, { t: text('flush'), trace: num(3), epoch: num(65536) });
  closes(output);
  output.control('ping', UP, { t: text('ping') });
}

/** @param {import('./output.mjs').Output} output */
function opens(output) {
  output.control('open', UP, {
    t: text('open'),
    req: num(7),
    name: text('soc/core0'),
    session: blob(SESSION),
    schema: text(SCHEMA),
    schema_name: text('core.yaml'),
    dut: object({ core: text('µ-core'), rev: text('a1') }),
    interval_ps: wide(10000000),
    credit: num(33554432),
    run: blob(RUN),
    core: num(0),
  });
  output.control('open-minimal', UP, {
    t: text('open'),
    req: num(128),
    name: text('a'),
    session: blob(SESSION),
    credit: num(65536),
  });
  output.control('open-generated', UP, {
    t: text('open'),
    req: num(1),
    name: text('core7'),
    session: blob(OWNED_SESSION),
    credit: num(65536),
    core: num(7),
    schema_sha256: text(SHA),
    vars: object({ core: text('7'), rev: text('b=2') }),
    memory: yes,
    secret: blob(SECRET),
  });
}

/** @param {import('./output.mjs').Output} output */
function closes(output) {
  const close = {
    t: text('close'),
    trace: num(3),
    session: blob(SESSION),
    frames: wide(1000),
    strings: wide(12),
    rejected: wide(3),
    reasons: object({ OP_SLOT: wide(2), OP_TIME: wide(1) }),
  };
  output.control('close', UP, close);
  output.control('close-skipped', UP, { ...close, skipped: wide(70000) });
}
