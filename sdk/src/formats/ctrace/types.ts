/** The .ctrace format 1.1 of Chronon: its numbers and tables. Little-endian throughout. */

/** "CRTC" on disk. */
export const MAGIC = 0x4354_5243;
export const VERSION_MAJOR = 1;
/** Since 1.1 every event begins with the size of its arguments. */
export const VERSION_MINOR = 1;
export const HEADER_BYTES = 64;
/** In front of a block's events: count u32, least and greatest cycle u64, uncompressed and compressed size u32. */
export const BLOCK_HEADER_BYTES = 28;
/** In front of an event's arguments: their size u16 and the record, 24 bytes. */
export const EVENT_HEADER_BYTES = 26;
export const MAX_ARGS_BYTES = 0xffff;
/** Blocks are closed when they have at least this number of bytes. */
export const BLOCK_BYTES = 64 * 1024;

/** Bits of the header's flags. They say what was requested of the writer, not what is in the file. */
export const CtraceFlag = { COMPRESSED: 1n, HAS_INDEX: 2n, HAS_SCHEMA: 4n } as const;

/** Types of arguments, by their number on disk. */
export const ArgType = {
  NONE: 0,
  INT8: 1,
  INT16: 2,
  INT32: 3,
  INT64: 4,
  UINT8: 5,
  UINT16: 6,
  UINT32: 7,
  UINT64: 8,
  FLOAT: 9,
  DOUBLE: 10,
  POINTER: 11,
  STRING: 12,
  BOOL: 13,
} as const;
export type ArgType = (typeof ArgType)[keyof typeof ArgType];

const SIZES = [0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 0, 1];

/** Bytes of an argument; 0 for strings (their bytes and a NUL), NONE and numbers that are not type. */
export function argBytes(type: number): number {
  return SIZES[type] ?? 0;
}

/** Whether values of this type can be read and written. */
export function isArgType(type: number): boolean {
  return type >= ArgType.INT8 && type <= ArgType.BOOL;
}

export const LOG_LEVELS: readonly string[] = ['debug', 'info', 'warn', 'error'];

/**
 * A message: its text with `{}` for arguments, and its place in the source. In all texts, bytes that are not UTF-8 are lone
 * surrogates U+DC80 to U+DCFF, so that they can be written again.
 */
export interface CtraceFormat {
  readonly id: number;
  readonly text: string;
  /** Empty: not known. */
  readonly file: string;
  readonly line: number;
  /** `ArgType`s; in damaged or newer files other numbers. */
  readonly argTypes: readonly number[];
  readonly isLog: boolean;
  /** Index into `LOG_LEVELS`. */
  readonly logLevel: number;
}

export interface CtraceCategory {
  readonly name: string;
  readonly description: string;
  readonly mask: bigint;
}

/** Who sends events: a component of the simulation. */
export interface CtraceUnit {
  readonly id: number;
  readonly name: string;
  readonly typeName: string;
}

export interface CtraceSchema {
  readonly version: number;
  readonly formats: readonly CtraceFormat[];
  readonly categories: readonly CtraceCategory[];
  readonly units: readonly CtraceUnit[];
  readonly simulationName: string;
  readonly configHash: bigint;
}

export const EMPTY_SCHEMA: CtraceSchema = {
  version: 1,
  formats: [],
  categories: [],
  units: [],
  simulationName: '',
  configHash: 0n,
};

/** A block of events, as its header and the index describe it. */
export interface CtraceBlock {
  readonly index: number;
  readonly events: number;
  readonly minCycle: bigint;
  readonly maxCycle: bigint;
  readonly uncompressedBytes: number;
  /** As many as uncompressed: the events are stored as they are. */
  readonly compressedBytes: number;
  /** Of the block's header in the file. */
  readonly offset: number;
}

/** The index at the end of a file. */
export interface CtraceFooter {
  readonly blockCount: number;
  readonly totalEvents: bigint;
  readonly minCycle: bigint;
  readonly maxCycle: bigint;
  /** Unix seconds; 0: not known. */
  readonly created: bigint;
}

export interface CtraceHeader {
  readonly versionMajor: number;
  readonly versionMinor: number;
  /** 0 where there is none, and in files whose writer did not come to its end. */
  readonly schemaOffset: number;
  readonly schemaBytes: number;
  readonly firstBlock: number;
  readonly footerOffset: number;
  readonly footerBytes: number;
  /** `CtraceFlag`s. */
  readonly flags: bigint;
}

/** Value of an argument: numbers up to 32 bits, floats and doubles as number, 64 bits and pointers as bigint. */
export type CtraceValue = number | bigint | boolean | string;

/** An event with its arguments decoded by the types of its format. */
export interface CtraceEvent {
  readonly cycle: bigint;
  readonly formatId: number;
  /** Bit mask. */
  readonly category: number;
  /** Id of the unit; 0: none. */
  readonly source: number;
  /** As stored; the values may be fewer. */
  readonly argCount: number;
  readonly values: readonly CtraceValue[];
}
