/** Control messages <-> bytes. */
import { UscopeError } from '../../base/errors.js';
import { type Fields, messageError, readFields, u32, writeFields } from './fields.js';
import { packMap, unpackMap, type WireMap } from './msgpack.js';
import {
  CLIENT_MESSAGES,
  type ClientMessage,
  type ControlMessage,
  DAEMON_MESSAGES,
  type DaemonMessage,
  MAX_CONTROL_BYTES,
  PROTOCOL_VERSION,
} from './protocol.js';

const ALL: Readonly<Record<string, Fields>> = { ...CLIENT_MESSAGES, ...DAEMON_MESSAGES };

/** Keys in the order of the contract, integers in their smallest form. @throws UscopeError BRIDGE_LIMIT above 4 MiB */
export function encodeControl(message: ControlMessage): Uint8Array {
  const bytes = packMap(new Map([['t', message.t], ...writeFields(ALL[message.t], message as never)]));
  if (bytes.length > MAX_CONTROL_BYTES) {
    throw new UscopeError(
      'BRIDGE_LIMIT',
      `${message.t} takes ${bytes.length} bytes; a control message may take ${MAX_CONTROL_BYTES}: use a smaller schema`,
    );
  }
  return bytes;
}

/**
 * What a client sends. A `hello` of another protocol version is refused before its other keys are looked at: they may differ there.
 * @throws UscopeError BRIDGE_MESSAGE, BRIDGE_VERSION
 */
export function decodeClientMessage(bytes: Uint8Array): ClientMessage {
  const map = controlMap(bytes);
  if (map.get('t') === 'hello') checkVersion(map, 'hello.v');
  return decode(CLIENT_MESSAGES, map) as ClientMessage;
}

/** What a daemon sends. @throws UscopeError BRIDGE_MESSAGE, BRIDGE_VERSION */
export function decodeDaemonMessage(bytes: Uint8Array): DaemonMessage {
  const map = controlMap(bytes);
  if (map.get('t') === 'welcome') checkVersion(map, 'welcome.v');
  return decode(DAEMON_MESSAGES, map) as DaemonMessage;
}

function controlMap(bytes: Uint8Array): WireMap {
  if (bytes.length > MAX_CONTROL_BYTES) {
    throw messageError(
      'control message',
      `it has ${bytes.length} bytes; at most ${MAX_CONTROL_BYTES} are allowed`,
    );
  }
  return unpackMap(bytes);
}

function checkVersion(map: WireMap, where: string): void {
  const value = map.get('v');
  if (value === undefined) throw messageError(where, 'the key is missing');
  const version = u32.read(value, where);
  if (version !== PROTOCOL_VERSION) {
    throw new UscopeError(
      'BRIDGE_VERSION',
      `the peer speaks version ${version} of the bridge protocol, this side version ${PROTOCOL_VERSION}: install the same release of uscope on both sides`,
    );
  }
}

function decode(table: Readonly<Record<string, Fields>>, map: WireMap): unknown {
  const type = map.get('t');
  if (typeof type !== 'string') throw messageError('control message', 'the key t, a string, is missing');
  if (!Object.hasOwn(table, type)) {
    throw messageError(
      'control message',
      `a message of type ${JSON.stringify(type.slice(0, 40))} is not known here`,
    );
  }
  return { t: type, ...readFields(table[type], map, type) };
}
