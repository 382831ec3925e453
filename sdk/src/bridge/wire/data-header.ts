/** The 48-byte header of a data message (docs/reference/bridge-protocol.md#data-header). */
import { RECORD_BYTES } from '../../format/record.js';
import {
  DATA_CONTINUES as CONTINUES,
  DATA_HEADER_BYTES,
  DATA_MAGIC,
  DATA_IN_MEMORY as IN_MEMORY,
  DATA_LANES as LANES,
  MAX_PAYLOAD_BYTES,
} from './constants.js';
import { messageError } from './fields.js';

export { CONTINUES, IN_MEMORY, LANES };

const TRACE_AT = 8;

export interface DataHeader {
  readonly flags: number;
  readonly trace: number;
  readonly epoch: number;
  /** 0, 1, 2, ... per epoch. */
  readonly seq: bigint;
  /** Ordinal of the frame that the first record belongs to or comes before. */
  readonly firstFrame: bigint;
  /** Bytes of the records that follow. */
  readonly payloadSize: number;
  /** With IN_MEMORY: where in the client's memory they are. */
  readonly memoryOffset?: number;
}

/** Whether a message of one part is a data header: no control message begins like one. */
export function isDataHeader(bytes: Uint8Array): boolean {
  return bytes.length === DATA_HEADER_BYTES && bytes[0] === (DATA_MAGIC & 0xff);
}

/** @param payloadBytes size of the second part as received, null when there is none @throws UscopeError BRIDGE_MESSAGE */
export function decodeDataHeader(bytes: Uint8Array, payloadBytes: number | null): DataHeader {
  if (bytes.length !== DATA_HEADER_BYTES) {
    throw messageError('data header', `it has ${bytes.length} bytes; ${DATA_HEADER_BYTES} are needed`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const wrong = (what: string, value: number): Error =>
    messageError('data header', `${what} 0x${value.toString(16)}`);
  const magic = view.getUint32(0, true);
  if (magic !== DATA_MAGIC) throw wrong('magic', magic);
  const flags = view.getUint16(4, true);
  if ((flags & ~(CONTINUES | IN_MEMORY | LANES)) !== 0) throw wrong('undefined flags', flags);
  const headerSize = view.getUint16(6, true);
  if (headerSize !== DATA_HEADER_BYTES) throw wrong('header_size', headerSize);
  const inMemory = (flags & IN_MEMORY) !== 0;
  const memoryOffset = view.getUint32(40, true) + view.getUint32(44, true) * 2 ** 32;
  if (view.getUint32(36, true) !== 0 || (!inMemory && memoryOffset !== 0)) {
    throw messageError('data header', 'a reserved field is not 0');
  }
  if (inMemory !== (payloadBytes === null)) {
    throw messageError(
      'data header',
      inMemory ? 'records follow although they are in memory' : 'no records follow',
    );
  }
  const payloadSize = view.getUint32(32, true);
  checkPayloadSize(payloadSize, payloadBytes ?? payloadSize);
  return {
    flags,
    trace: view.getUint32(TRACE_AT, true),
    epoch: view.getUint32(12, true),
    seq: view.getBigUint64(16, true),
    firstFrame: view.getBigUint64(24, true),
    payloadSize,
    ...(inMemory ? { memoryOffset } : {}),
  };
}

function checkPayloadSize(payloadSize: number, payloadBytes: number): void {
  if (payloadSize !== payloadBytes) {
    throw messageError('data header', `payload_size ${payloadSize} before ${payloadBytes} bytes of records`);
  }
  if (payloadSize % RECORD_BYTES !== 0 || payloadSize > MAX_PAYLOAD_BYTES) {
    throw messageError(
      'data header',
      `payload_size ${payloadSize} is not a multiple of ${RECORD_BYTES} up to ${MAX_PAYLOAD_BYTES}`,
    );
  }
}

/** Trace number and epoch of a header that may be malformed otherwise, to answer its sender; null when it is too short. */
export function peekTrace(bytes: Uint8Array): { trace: number; epoch: number } | null {
  if (bytes.length < TRACE_AT + 8) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { trace: view.getUint32(TRACE_AT, true), epoch: view.getUint32(TRACE_AT + 4, true) };
}

const scratch = new Uint32Array(MAX_PAYLOAD_BYTES / 4);

/**
 * The records as words. A view when the payload happens to be aligned, else a copy that the next call overwrites: the caller uses it
 * before it yields.
 */
export function payloadWords(payload: Uint8Array): Uint32Array {
  if (payload.byteOffset % 4 === 0) {
    return new Uint32Array(payload.buffer as ArrayBuffer, payload.byteOffset, payload.byteLength >>> 2);
  }
  new Uint8Array(scratch.buffer).set(payload);
  return scratch.subarray(0, payload.byteLength >>> 2);
}
