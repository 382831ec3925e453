/** STF (Simulation Trace Format) in numbers and names: descriptors, features, events, and the records as objects. */

/** Record descriptors, the first byte of a record. */
export const StfType = {
  IDENTIFIER: 1,
  VERSION: 2,
  COMMENT: 3,
  ISA: 4,
  INST_IEM: 5,
  TRACE_INFO: 6,
  TRACE_INFO_FEATURE: 7,
  PROCESS_ID_EXT: 8,
  FORCE_PC: 9,
  VLEN_CONFIG: 10,
  PROTOCOL_ID: 11,
  CLOCK_ID: 12,
  ISA_EXTENDED: 13,
  END_HEADER: 19,
  INST_PC_TARGET: 31,
  INST_REG: 40,
  INST_READY_REG: 41,
  PAGE_TABLE_WALK: 50,
  INST_MEM_ACCESS: 60,
  INST_MEM_CONTENT: 61,
  BUS_MASTER_ACCESS: 62,
  BUS_MASTER_CONTENT: 63,
  EVENT: 100,
  EVENT_PC_TARGET: 101,
  INST_MICROOP: 230,
  INST_OPCODE32: 240,
  INST_OPCODE16: 241,
  TRANSACTION: 250,
  TRANSACTION_DEPENDENCY: 251,
} as const;
export type StfType = (typeof StfType)[keyof typeof StfType];

/** Descriptor -> name; the names that listings use. */
export const TYPE_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(StfType).map(([name, type]) => [type, name]),
);

/**
 * u8 to u64: numbers; text16, text32: bytes with their number in front; version: three u8; words: u64 up to the end of the record.
 */
export type FieldKind = 'u8' | 'u16' | 'u32' | 'u64' | 'text16' | 'text32' | 'version' | 'words';

export interface RecordField {
  readonly name: string;
  readonly kind: FieldKind;
}

/** What follows the descriptor, field by field: the reader, the writer and the events work by the same table. */
const LAYOUTS: Readonly<Record<number, string>> = {
  [StfType.IDENTIFIER]: '',
  [StfType.VERSION]: 'major:u32 minor:u32',
  [StfType.COMMENT]: 'text:text32',
  [StfType.ISA]: 'isa:u16',
  [StfType.INST_IEM]: 'iem:u16',
  [StfType.TRACE_INFO]: 'generator:u8 version:version text:text16',
  [StfType.TRACE_INFO_FEATURE]: 'features:u64',
  [StfType.PROCESS_ID_EXT]: 'hwThread:u32 process:u32 thread:u32',
  [StfType.FORCE_PC]: 'pc:u64',
  [StfType.VLEN_CONFIG]: 'vlen:u32',
  [StfType.PROTOCOL_ID]: 'protocol:u8',
  [StfType.CLOCK_ID]: 'clock:u8 text:text16',
  [StfType.ISA_EXTENDED]: 'text:text32',
  [StfType.END_HEADER]: '',
  [StfType.INST_PC_TARGET]: 'pc:u64',
  [StfType.INST_REG]: 'register:u16 meta:u8 values:words',
  [StfType.INST_READY_REG]: 'register:u16',
  [StfType.INST_MEM_ACCESS]: 'address:u64 size:u16 attributes:u16 access:u8',
  [StfType.INST_MEM_CONTENT]: 'value:u64',
  [StfType.BUS_MASTER_ACCESS]: 'address:u64 size:u16 source:u8 index:u8 attributes:u32 access:u8',
  [StfType.BUS_MASTER_CONTENT]: 'value:u64',
  [StfType.EVENT_PC_TARGET]: 'pc:u64',
  [StfType.INST_MICROOP]: 'size:u8 op:u32',
  [StfType.INST_OPCODE32]: 'bits:u32',
  [StfType.INST_OPCODE16]: 'bits:u16',
  [StfType.TRANSACTION_DEPENDENCY]: 'id:u64 delta:u64 clock:u8',
};

/** Fields by descriptor; without EVENT, PAGE_TABLE_WALK and TRANSACTION, whose fields depend on each other or on the header. */
export const LAYOUT: ReadonlyMap<number, readonly RecordField[]> = new Map(
  Object.entries(LAYOUTS).map(([type, text]) => {
    const fields = text.split(' ').filter(Boolean);
    return [
      Number(type),
      fields.map((field) => {
        const [name, kind] = field.split(':');
        return { name, kind: kind as FieldKind };
      }),
    ];
  }),
);

const FIELD_BYTES: Readonly<Record<FieldKind, number>> = {
  ...{ u8: 1, u16: 2, u32: 4, u64: 8, version: 3 },
  ...{ text16: Number.NaN, text32: Number.NaN, words: Number.NaN },
};

/** Bytes of these fields; NaN where a record says how many. */
export function bytesOfFields(fields: readonly RecordField[]): number {
  return fields.reduce((sum, { kind }) => sum + FIELD_BYTES[kind], 0);
}

/** Bits of TRACE_INFO_FEATURE. */
export const StfFeature = {
  PA: 0,
  DATA_ATTR: 1,
  OPERAND_VALUE: 2,
  EVENT: 3,
  SYSCALL: 4,
  RV64: 5,
  INT_DIV: 6,
  SAMPLING: 7,
  PTE: 8,
  SIMPOINT: 9,
  PROCESS_ID: 10,
  PTE_ONLY: 11,
  NEED_POST: 12,
  REG_STATE: 13,
  MICROOP: 14,
  MT: 15,
  MC: 16,
  PTE_HW_AD: 17,
  VEC: 18,
  EVENT64: 19,
  TRANSACTIONS: 20,
} as const;

export const StfIsa = { RISCV: 1, ARM: 2, X86: 3, POWER: 4 } as const;
export const StfIem = { RV32: 1, RV64: 2 } as const;
export const ISA_NAMES = ['', 'RISCV', 'ARM', 'X86', 'POWER'];
export const IEM_NAMES = ['', 'RV32', 'RV64'];

/** Tools by their number in TRACE_INFO. */
export const GENERATORS: ReadonlyMap<number, string> = new Map([
  [1, 'QEMU'],
  [2, 'Android'],
  [3, 'gem5'],
  [4, 'PTE_GEN'],
  [5, 'Imperas'],
  [6, 'Spike'],
  [7, 'stf_extract'],
  [8, 'stf_merge'],
  [9, 'stf_filter_evt'],
  [10, 'Athena'],
  [11, 'stf_morph'],
  [12, 'Dromajo'],
  [13, 'Pegasus'],
  [14, 'stf_transaction_extract'],
  [0x40, 'transaction_example'],
]);

/** `meta & 15` and `meta >> 4` of INST_REG. */
export const REGISTER_FILES = ['', 'X', 'F', 'V', 'CSR'];
export const REGISTER_ROLES = ['', 'STATE', 'SOURCE', 'DEST'];
export const VECTOR_FILE = 3;

export const ACCESS_NAMES = ['', 'READ', 'WRITE'];
/** Channels of a TileLink TRANSACTION from 1. */
export const CHANNELS = ['', 'A', 'B', 'C', 'D', 'E'];
export const Channel = { A: 1, B: 2, C: 3, D: 4, E: 5 } as const;
export const PROTOCOL_TILELINK = 1;

/** Records of variable size may be this large; more is not taken. */
export const MAX_RECORD_BYTES = 16 * 1024 * 1024;
/** Bits of a vector register that RISC-V allows at most. */
export const MAX_VLEN = 65_536;
export const MAGIC = Uint8Array.of(1, 0x53, 0x54, 0x46);

/** A piece of metadata of a transaction: an unsigned number of `1 << width` bytes. */
export interface StfMetadata {
  readonly width: 0 | 1 | 2 | 3;
  readonly value: bigint;
}

/** One message of a TileLink channel. A channel has some of the fields only; see `StfTransaction`. */
export interface TileLinkMessage {
  /** A to E are 1 to 5. */
  readonly channel: number;
  /** Not E. */
  readonly code?: number;
  readonly param?: number;
  readonly size?: number;
  readonly source?: bigint;
  readonly data?: Uint8Array;
  /** A, B and C. */
  readonly address?: bigint;
  /** A and B: number of bits, and the bits, low first. */
  readonly maskBits?: number;
  readonly mask?: Uint8Array;
  /** D and E. */
  readonly sink?: bigint;
}

export interface StfTransaction extends TileLinkMessage {
  readonly type: 250;
  readonly id: bigint;
  readonly delta: bigint;
  readonly clock: number;
  readonly metadata: readonly StfMetadata[];
}

/** A record as an object. Text is bytes: files are not obliged to hold UTF-8. 64-bit values are unsigned bigints. */
export type StfRecord =
  | { readonly type: 1 }
  | { readonly type: 2; readonly major: number; readonly minor: number }
  | { readonly type: 3; readonly text: Uint8Array }
  | { readonly type: 4; readonly isa: number }
  | { readonly type: 5; readonly iem: number }
  | {
      readonly type: 6;
      readonly generator: number;
      /** Major, minor, patch; a byte each. */
      readonly version: readonly [number, number, number];
      readonly text: Uint8Array;
    }
  | { readonly type: 7; readonly features: bigint }
  | { readonly type: 8; readonly hwThread: number; readonly process: number; readonly thread: number }
  | { readonly type: 9 | 31 | 101; readonly pc: bigint }
  | { readonly type: 10; readonly vlen: number }
  | { readonly type: 11; readonly protocol: number }
  | { readonly type: 12; readonly clock: number; readonly text: Uint8Array }
  | { readonly type: 13; readonly text: Uint8Array }
  | { readonly type: 19 }
  | {
      readonly type: 40;
      readonly register: number;
      /** File in the low, role in the high nibble. */
      readonly meta: number;
      /** One value, or the words of a vector register, low first. */
      readonly values: readonly bigint[];
    }
  | { readonly type: 41; readonly register: number }
  | {
      readonly type: 50;
      readonly address: bigint;
      readonly firstIndex: bigint;
      readonly pageSize: number;
      readonly entries: readonly { readonly address: bigint; readonly entry: bigint }[];
    }
  | {
      readonly type: 60;
      readonly address: bigint;
      readonly size: number;
      readonly attributes: number;
      readonly access: number;
    }
  | { readonly type: 61 | 63; readonly value: bigint }
  | {
      readonly type: 62;
      readonly address: bigint;
      readonly size: number;
      readonly source: number;
      readonly index: number;
      readonly attributes: number;
      readonly access: number;
    }
  /** The id as the file has it: in a file without EVENT64 its flags are bits 31 and 30. */
  | { readonly type: 100; readonly id: bigint; readonly data: readonly bigint[] }
  | { readonly type: 230; readonly size: number; readonly op: number }
  | { readonly type: 240 | 241; readonly bits: number }
  | StfTransaction
  | { readonly type: 251; readonly id: bigint; readonly delta: bigint; readonly clock: number };
