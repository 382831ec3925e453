/** The vocabulary of flux: entries, types of signals and members, and the limits that existing viewers have. */

/** First bytes of a file: the tag of HEAD and the magic. Also what a reader that lost its place looks for. */
export const MAGIC = Uint8Array.of(0x00, 0x01, 0x66, 0x6c, 0x75, 0x78);
export const VERSION = 6;

/** Tags of entries; a sample has none; its first number, which is not 0, distinguishes it from them. */
export const FluxTag = {
  SAMPLE: 0,
  HEAD: 0x01,
  SWTH: 0x04,
  PBLK: 0x05,
  SECT: 0x06,
  SCPD: 0x10,
  SIGD: 0x11,
  MSGD: 0x12,
  SIRD: 0x13,
  SSGD: 0x14,
  SSRD: 0x15,
  OPEN: 0x20,
  CLOS: 0x21,
  DOMD: 0x22,
  CURR: 0x23,
  ENMD: 0x30,
  MEMD: 0x31,
  ATRE: 0x40,
  ATLA: 0x41,
  CREQ: 0x80,
  CRES: 0x81,
  /** No entry: the reader has seen all sections of a ring buffer and goes through them from the oldest on. */
  RING: 0x100,
} as const;
export type FluxTag = (typeof FluxTag)[keyof typeof FluxTag];

export const TAG_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(FluxTag).map(([name, tag]) => [tag, name]),
);

export const FluxType = {
  UNKNOWN: 0,
  EVENT: 1,
  INTEGER: 2,
  LOGIC: 3,
  FLOAT: 4,
  TEXT: 5,
  BINARY: 6,
  STRUCT: 7,
  EVENTS: 8,
  INTEGERS: 9,
  FLOATS: 10,
  TEXTS: 11,
} as const;

export const TYPE_NAMES: readonly string[] = [
  'unknown',
  'event',
  'integer',
  'logic',
  'float',
  'text',
  'binary',
  'struct',
  'event[]',
  'integer[]',
  'float[]',
  'text[]',
];

/** Types of members, in the low four bits of their byte. */
export const MemberType = {
  UNKNOWN: 0,
  TEXT: 1,
  GLOBAL_ENUM: 2,
  INTEGER: 3,
  FLOAT: 4,
  LOGIC: 5,
  BINARY: 6,
  LOCAL_ENUM: 7,
  MERGE_ENUM: 8,
  STRUCT: 9,
  ENUMS: 10,
  INTEGERS: 11,
  FLOATS: 12,
  TEXTS: 13,
} as const;

export const MEMBER_NAMES: readonly string[] = [
  'unknown',
  'text',
  'genum',
  'int',
  'float',
  'logic',
  'binary',
  'lenum',
  'menum',
  'struct',
  'enum[]',
  'int[]',
  'float[]',
  'text[]',
];

/** Enumerations of an item; those of a member are from `MEMBER` on, one per member id. */
export const Enumeration = {
  GLOBAL: 0,
  RELATION_TARGET: 1,
  RELATION_STYLE: 2,
  LABEL_STYLE: 3,
  RELATION_BASE: 4,
  MEMBER: 8,
} as const;

export const HeadMode = { NORMAL: 0, SYNC: 1 } as const;

/** How the bytes of a PBLK are compressed. */
export const BlockMode = { LZ4: 0, FASTLZ: 1, ZLIB: 2, GZIP: 3 } as const;
export type BlockMode = (typeof BlockMode)[keyof typeof BlockMode];
export const BLOCK_NAMES: readonly string[] = ['LZ4', 'FastLZ', 'zlib', 'gzip'];

/** Flag of a sample: its value is marked (a tag, or a conflict). */
export const CONFLICT = 1;
export const HAS_DELTA = 2;

/** What existing viewers take. */
export const MAX_TRACE_ID = 2047;
export const MAX_ITEM_ID = 2 ** 25;
export const MAX_ENTRY_SIZE = 2 ** 21;
export const MAX_SECTION = 32_767;
/** They misread larger numbers: a larger gap in time is written as a position. */
export const MAX_DELTA = 2 ** 31 - 1;

/** States of logic, by their code. Two states take 1 bit, four 2 bits, sixteen 4 bits. */
export const STATES = '01zxlhuw-jkmnop#';

/** A member of a struct, or of a control entry: `data` as in the file. */
export interface FluxMember {
  readonly member: number;
  readonly type: number;
  readonly data: Uint8Array;
}

interface Named {
  readonly parent: number;
  readonly name: string;
  readonly description: string;
}

interface Typed extends Named {
  /** A `FluxType`. */
  readonly type: number;
  readonly descriptor: string;
}

/** Ids are whole numbers, positions count in the domain of the open group. Empty text represents none. */
export type FluxEntry =
  | {
      readonly tag: typeof FluxTag.HEAD;
      readonly version: number;
      readonly traceId: number;
      readonly name: string;
      readonly description: string;
      readonly mode: number;
      readonly maxItemId: number;
      readonly maxEntrySize: number;
    }
  | { readonly tag: typeof FluxTag.SWTH; readonly traceId: number }
  | {
      readonly tag: typeof FluxTag.PBLK;
      readonly mode: number;
      readonly size: number;
      readonly compressed: number;
    }
  | {
      readonly tag: typeof FluxTag.SECT;
      readonly counter: number;
      readonly size: number;
      readonly used: number;
    }
  | { readonly tag: typeof FluxTag.RING }
  | ({ readonly tag: typeof FluxTag.SCPD; readonly id: number } & Named)
  | ({ readonly tag: typeof FluxTag.SIGD; readonly id: number } & Typed)
  | ({ readonly tag: typeof FluxTag.MSGD; readonly id: number; readonly idTo: number } & Typed)
  | ({ readonly tag: typeof FluxTag.SIRD; readonly id: number } & Named)
  | ({
      readonly tag: typeof FluxTag.SSGD;
      readonly id: number;
      readonly from: number;
      readonly to: number;
    } & Typed)
  | ({
      readonly tag: typeof FluxTag.SSRD;
      readonly id: number;
      readonly from: number;
      readonly to: number;
    } & Named)
  | {
      readonly tag: typeof FluxTag.OPEN;
      readonly id: number;
      readonly domain: string;
      readonly start: bigint;
      readonly rate: bigint;
    }
  | { readonly tag: typeof FluxTag.CLOS; readonly id: number; readonly end: bigint }
  | { readonly tag: typeof FluxTag.DOMD; readonly domain: string }
  | { readonly tag: typeof FluxTag.CURR; readonly id: number; readonly position: bigint }
  | {
      readonly tag: typeof FluxTag.ENMD;
      readonly id: number;
      readonly enumeration: number;
      readonly label: string;
      readonly value: bigint;
    }
  | {
      readonly tag: typeof FluxTag.MEMD;
      readonly id: number;
      readonly member: number;
      /** Id of the struct member that holds it, plus 1; 0: none. */
      readonly parent: number;
      readonly label: string;
      readonly type: number;
      readonly descriptor: string;
    }
  | {
      readonly tag: typeof FluxTag.ATRE;
      readonly id: number;
      /** 0 delta, 1 delta reversed, 2 position, 3 position reversed. */
      readonly type: number;
      readonly target: number;
      readonly style: number;
      readonly delta: bigint;
      readonly base: number;
    }
  | {
      readonly tag: typeof FluxTag.ATLA;
      readonly id: number;
      readonly style: number;
      readonly x: bigint;
      readonly y: bigint;
    }
  | {
      readonly tag: typeof FluxTag.CREQ | typeof FluxTag.CRES;
      readonly control: number;
      readonly message: number;
      readonly members: readonly FluxMember[];
    }
  | FluxSample;

export interface FluxSample {
  readonly tag: typeof FluxTag.SAMPLE;
  readonly id: number;
  readonly conflict: boolean;
  /** Absolute, in the domain of the open group that owns the item. */
  readonly position: bigint;
  /** Format of the value and its variant: see `decodeValue`. */
  readonly df: number;
  readonly xdf: number;
  readonly data: Uint8Array;
}

// What is in each entry, field by field: the reader and the writer work by the same table.

/**
 * id: a number below 2^32; pint: an unsigned number of 64 bits; sint: a signed one in its own bytes; text: UTF-8 with its length;
 * members: a count and as many members; magic: `flux`.
 */
export type FieldKind = 'magic' | 'u8' | 'u16' | 'id' | 'pint' | 'sint' | 'text' | 'members';

export interface LayoutField {
  readonly name: string;
  readonly kind: FieldKind;
  /** Lowest version of the format that has the field. */
  readonly since: number;
}

const TEXTS = 'name:text description:text';
const TYPED = `${TEXTS} type:u8 descriptor:text`;

const LAYOUTS: Readonly<Record<number, string>> = {
  [FluxTag.HEAD]: `magic:magic version:u8 traceId:id ${TEXTS} mode:u8 maxItemId:id maxEntrySize:id`,
  [FluxTag.SWTH]: 'traceId:id',
  [FluxTag.PBLK]: 'mode:u8 size:id compressed:id',
  [FluxTag.SECT]: 'counter:u8 size:u16 used:u16',
  [FluxTag.SCPD]: `id:id parent:id ${TEXTS}`,
  [FluxTag.SIGD]: `id:id parent:id ${TYPED}`,
  [FluxTag.MSGD]: `id:id idTo:id parent:id ${TYPED}`,
  [FluxTag.SIRD]: `id:id parent:id ${TEXTS}`,
  [FluxTag.SSGD]: `id:id parent:id ${TYPED} from:id to:id`,
  [FluxTag.SSRD]: `id:id parent:id ${TEXTS} from:id to:id`,
  [FluxTag.OPEN]: 'id:id domain:text start:sint rate:sint',
  [FluxTag.CLOS]: 'id:id end:sint',
  [FluxTag.DOMD]: 'domain:text',
  [FluxTag.CURR]: 'id:id position:sint',
  [FluxTag.ENMD]: 'id:id enumeration:id label:text value:pint',
  [FluxTag.MEMD]: 'id:id member:id parent:id@5 label:text type:u8 descriptor:text',
  [FluxTag.ATRE]: 'id:id type:u8@5 target:id style:id delta:sint base:id@5',
  [FluxTag.ATLA]: 'id:id style:id x:sint y:sint',
  [FluxTag.CREQ]: 'control:id message:id members:members',
  [FluxTag.CRES]: 'control:id message:id members:members',
};

/** Fields by tag; undefined for tags that do not exist. */
export const LAYOUT: readonly (readonly LayoutField[] | undefined)[] = Array.from({ length: 256 }, (_, tag) =>
  LAYOUTS[tag]?.split(' ').map((text) => {
    const [name, kind, since = '0'] = text.split(/[:@]/);
    return { name, kind: kind as FieldKind, since: Number(since) };
  }),
);
