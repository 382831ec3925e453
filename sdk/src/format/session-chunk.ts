/**
 * Session chunk: our private preamble chunk, which other readers skip (docs/reference/format.md#preamble). It says which session wrote the file and how that ended,
 * and is the only preamble chunk rewritten in place.
 *
 * Payload, 128 bytes: u32 layout version = 1, u32 status, 16 bytes session id, 16 bytes run id, u32 core index, u32 0, u64 start time,
 * u64 end time (unix ms), u64 lost, u64 rejected, u32 1 if a flight recorder made the file, u32 0, u64 its first frame, u64 next string,
 * u64 items, u64 frames completed, u32 1 if these are all, 2 if there may be more, 0 if that is not recorded, zeros.
 */
import { ByteReader, ByteWriter } from '../base/bytes.js';
import { UscopeError } from '../base/errors.js';

export const SESSION_CHUNK_TYPE = 0xff01;
export const SESSION_PAYLOAD_SIZE = 128;
export const SESSION_LAYOUT = 1;
export const NO_CORE = 0xffff_ffff;
const ID_SIZE = 16;
const COMPLETED_OFFSET = 112;
const Completed = { EXACT: 1, AT_LEAST: 2 } as const;

export const SessionStatus = { OPEN: 0, CLOSED: 1, CLIENT_LOST: 2, RECOVERED: 3, RING: 4 } as const;
export type SessionStatus = (typeof SessionStatus)[keyof typeof SessionStatus];

export interface SessionInfo {
  /** 16 random bytes. */
  readonly sessionId: Uint8Array;
  /** 16 bytes common to the traces of one run; zeros when absent. */
  readonly runId: Uint8Array;
  /** `NO_CORE` (0xFFFFFFFF) when the trace is not of one core. */
  readonly coreIndex: number;
  readonly status: SessionStatus;
  /** Wall clock, unix ms. */
  readonly startTimeMs: bigint;
  /** Wall clock, unix ms; 0 while open. */
  readonly endTimeMs: bigint;
  /** Items known to be lost. */
  readonly lost: bigint;
  /** Items refused because they broke the rules. */
  readonly rejected: bigint;
  /** Frames that the client completed; absent while the trace is open, and in files of older writers. */
  readonly completed?: CompletedFrames | undefined;
  /** Of files that a flight recorder has made, which hold the newest part of a trace. */
  readonly ring?: RingInfo | undefined;
}

/** How many frames a client completed, as far as that is known. */
export interface CompletedFrames {
  readonly frames: bigint;
  /** False: there may have been more. */
  readonly isExact: boolean;
}

export interface RingInfo {
  /** Ordinal of the client's frame that is first in the file: the frames before it were dropped. */
  readonly firstFrame: bigint;
  /** Index of the client's next string; the file's own strings are fewer. */
  readonly nextString: bigint;
  /** Items of the whole trace, those let go included. */
  readonly items: bigint;
}

export function encodeSessionInfo(info: SessionInfo): Uint8Array {
  for (const id of [info.sessionId, info.runId]) {
    if (id.length !== ID_SIZE) {
      throw new UscopeError('FORMAT_LENGTH', `session and run ids have 16 bytes, not ${id.length}`);
    }
  }
  const writer = new ByteWriter(SESSION_PAYLOAD_SIZE)
    .u32(SESSION_LAYOUT)
    .u32(info.status)
    .bytes(info.sessionId)
    .bytes(info.runId)
    .u32(info.coreIndex)
    .u32(0)
    .u64(info.startTimeMs)
    .u64(info.endTimeMs)
    .u64(info.lost)
    .u64(info.rejected);
  if (info.ring)
    writer.u32(1).u32(0).u64(info.ring.firstFrame).u64(info.ring.nextString).u64(info.ring.items);
  writer.zeros(COMPLETED_OFFSET - writer.length);
  const { completed } = info;
  if (completed) writer.u64(completed.frames).u32(completed.isExact ? Completed.EXACT : Completed.AT_LEAST);
  return writer.zeros(SESSION_PAYLOAD_SIZE - writer.length).finish();
}

/** Parts of the payload that are zeros: first byte and end. */
export function reservedBytes({ ring, completed }: SessionInfo): readonly (readonly [number, number])[] {
  return [
    [ring ? COMPLETED_OFFSET : 80, COMPLETED_OFFSET],
    [completed ? COMPLETED_OFFSET + 12 : COMPLETED_OFFSET, SESSION_PAYLOAD_SIZE],
  ];
}

/** Whether a chunk of type 0xFF01 has the layout of this release; one that has not is treated as unknown. */
export function isSessionPayload(payload: Uint8Array): boolean {
  return payload.length >= SESSION_PAYLOAD_SIZE && new ByteReader(payload).u32() === SESSION_LAYOUT;
}

/** Errors: FORMAT_TRUNCATED, FORMAT_VERSION (layout), FORMAT_VALUE (status). The ids are copies. */
export function decodeSessionInfo(payload: Uint8Array, baseOffset = 0): SessionInfo {
  const reader = new ByteReader(payload, 0, payload.length, baseOffset);
  reader.need(SESSION_PAYLOAD_SIZE, 'session chunk');
  const layout = reader.u32();
  if (layout !== SESSION_LAYOUT) {
    throw reader.error('FORMAT_VERSION', `session chunk has layout ${layout}, this release reads 1`, 0);
  }
  const status = reader.u32();
  if (status > SessionStatus.RING) {
    throw reader.error('FORMAT_VALUE', `session status ${status} is unknown`, 4);
  }
  const sessionId = reader.bytes(ID_SIZE).slice();
  const runId = reader.bytes(ID_SIZE).slice();
  const coreIndex = reader.u32();
  reader.skip(4);
  const startTimeMs = reader.u64();
  const endTimeMs = reader.u64();
  const lost = reader.u64();
  const rejected = reader.u64();
  const isRing = reader.u32() === 1;
  reader.skip(4);
  const ringInfo = { firstFrame: reader.u64(), nextString: reader.u64(), items: reader.u64() };
  const frames = reader.u64();
  const known = reader.u32();
  const isCompletedKnown = known === Completed.EXACT || known === Completed.AT_LEAST;
  return {
    sessionId,
    runId,
    coreIndex,
    status: status as SessionStatus,
    startTimeMs,
    endTimeMs,
    lost,
    rejected,
    ...(isCompletedKnown ? { completed: { frames, isExact: known === Completed.EXACT } } : {}),
    ...(isRing ? { ring: ringInfo } : {}),
  };
}
