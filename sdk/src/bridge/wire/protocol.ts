/**
 * Control messages of the bridge (docs/reference/bridge-protocol.md#connection, #traces). Keys are named as on the wire and are in the order of the
 * contract, which is the order in which they are encoded.
 */
import { MAX_FINGERPRINT } from '../../writer/fingerprint.js';
import { MAX_CONTROL_BYTES } from './constants.js';
import {
  bytes,
  entries,
  type Fields,
  flag,
  group,
  id,
  type MessageOf,
  optional,
  size,
  text,
  u32,
  u64,
} from './fields.js';

export { NO_CORE } from '../../format/session-chunk.js';
export { MAX_CONTROL_BYTES, MAX_PAYLOAD_BYTES, PROTOCOL_VERSION } from './constants.js';

const SHORT = 1024;
const LONG = 64 * 1024;
const SECRET_BYTES = 32;
const label = text(SHORT);
/** Scope paths (docs/how-to/control.md). */
const scopes = entries(flag);
const message = text(LONG);

/** `stats` of `closed`. `status` is the session status as in the file's session chunk (1 closed, 2 client lost, ...). */
const STATS = {
  path: text(LONG),
  status: u32,
  frames: u64,
  items: u64,
  strings: u64,
  segments: u32,
  bytes: u64,
  total_time_ps: u64,
  rejected: u64,
  lost: u64,
} satisfies Fields;

/** A trace in `ctl_done`: what has become of the command, and the state of the trace. `rate` is items per second. */
const CONTROLLED_TRACE = {
  outcome: label,
  code: optional(label),
  msg: optional(message),
  state: label,
  path: text(LONG),
  time_ps: u64,
  frames: u64,
  items: u64,
  bytes: u64,
  unacked: u64,
  rate: u64,
  disabled: scopes,
  skipped: u64,
} satisfies Fields;

export const CLIENT_MESSAGES = {
  hello: { v: u32, client: label, pid: u32, start: u64 },
  open: {
    req: u32,
    name: text(LONG),
    session: id,
    schema: optional(text(MAX_CONTROL_BYTES)),
    schema_name: optional(label),
    dut: optional(entries(text(LONG))),
    interval_ps: optional(u64),
    credit: size,
    run: optional(id),
    core: optional(u32),
    schema_sha256: optional(text(MAX_FINGERPRINT)),
    vars: optional(entries(label)),
    memory: optional(flag),
    secret: optional(bytes(SECRET_BYTES)),
  },
  close: {
    trace: u32,
    session: id,
    frames: u64,
    strings: u64,
    rejected: optional(u64),
    reasons: optional(entries(u64)),
    skipped: optional(u64),
  },
  controlled: {
    trace: u32,
    epoch: u32,
    done: u32,
    disabled: scopes,
    skipped: u64,
    code: optional(label),
    msg: optional(message),
  },
  ctl: {
    req: u32,
    action: label,
    trace: optional(label),
    scope: optional(label),
    text: optional(label),
    timeout_ms: optional(u32),
  },
  flush: { trace: u32, epoch: u32 },
  ping: {},
} satisfies Record<string, Fields>;

export const DAEMON_MESSAGES = {
  welcome: { v: u32, daemon: label, pid: u32 },
  opened: {
    req: u32,
    trace: u32,
    epoch: u32,
    schema: bytes(),
    frames: u64,
    strings: u64,
    interval_ps: u64,
    credit: size,
    path: text(LONG),
    memory: optional(flag),
    lanes: optional(flag),
  },
  ack: { trace: u32, epoch: u32, frames: u64 },
  stalled: { trace: u32, code: label, msg: message },
  error: {
    req: optional(u32),
    trace: optional(u32),
    epoch: optional(u32),
    code: label,
    msg: message,
    v: optional(u32),
    retry: optional(flag),
  },
  closed: { trace: u32, session: id, stats: group(STATS) },
  control: {
    trace: u32,
    epoch: u32,
    number: u32,
    action: label,
    scope: optional(label),
    text: optional(label),
  },
  ctl_done: { req: u32, traces: entries(group(CONTROLLED_TRACE)) },
  pong: {},
} satisfies Record<string, Fields>;

type Tagged<Table> = {
  [T in keyof Table]: { readonly t: T } & MessageOf<Table[T]>;
};
type ClientTable = Tagged<typeof CLIENT_MESSAGES>;
type DaemonTable = Tagged<typeof DAEMON_MESSAGES>;

export type ClientMessage = ClientTable[keyof ClientTable];
export type DaemonMessage = DaemonTable[keyof DaemonTable];
export type ControlMessage = ClientMessage | DaemonMessage;

export type HelloMessage = ClientTable['hello'];
export type OpenMessage = ClientTable['open'];
export type CloseMessage = ClientTable['close'];
export type OpenedMessage = DaemonTable['opened'];
export type ErrorMessage = DaemonTable['error'];
export type ControlledMessage = ClientTable['controlled'];
export type CtlMessage = ClientTable['ctl'];
export type CtlDoneMessage = DaemonTable['ctl_done'];
export type ControlledTrace = MessageOf<typeof CONTROLLED_TRACE>;
export type WireStats = MessageOf<typeof STATS>;
