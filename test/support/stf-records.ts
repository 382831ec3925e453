/** Files for tests, written by our own writer: one with every record of an instruction trace, one with bus transactions. */
import { MemoryOutput } from '../../sdk/src/formats/common/memory-output.js';
import { StfFeature, type StfRecord, StfType } from '../../sdk/src/formats/stf/types.js';
import { StfWriter, type StfWriterOptions } from '../../sdk/src/formats/stf/writer.js';

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const bit = (...bits: number[]): bigint => bits.reduce((all, one) => all | (1n << BigInt(one)), 0n);

export function header(iem: 1 | 2, features: bigint, ...more: StfRecord[]): StfRecord[] {
  return [
    { type: StfType.IDENTIFIER },
    { type: StfType.VERSION, major: 1, minor: 6 },
    { type: StfType.ISA, isa: 1 },
    { type: StfType.INST_IEM, iem },
    { type: StfType.TRACE_INFO, generator: 65, version: [0, 1, 0], text: text('fixture') },
    { type: StfType.TRACE_INFO_FEATURE, features },
    { type: StfType.FORCE_PC, pc: 0x8000_0000n },
    ...more,
    { type: StfType.END_HEADER },
  ];
}

/** Every record that instructions can have; texts that are not UTF-8, empty, and with a zero byte among them. */
export function everyRecord(): StfRecord[] {
  const vector = [1n, 0xffff_ffff_ffff_ffffn, 3n];
  return [
    ...header(
      2,
      bit(StfFeature.RV64, StfFeature.EVENT64, StfFeature.VEC, StfFeature.EVENT),
      { type: StfType.COMMENT, text: Uint8Array.of(0xff, 0xfe, 1, 2, 3, 4, 5, 6, 7, 8, 9) },
      { type: StfType.COMMENT, text: text('\ufeffmarked') },
      { type: StfType.COMMENT, text: text('zero\0inside') },
      { type: StfType.COMMENT, text: new Uint8Array(0) },
      { type: StfType.PROCESS_ID_EXT, hwThread: 1, process: 2, thread: 3 },
      { type: StfType.VLEN_CONFIG, vlen: 192 },
      { type: StfType.ISA_EXTENDED, text: text('rv64gcv') },
    ),
    { type: StfType.INST_REG, register: 5, meta: 0x11, values: [7n] },
    { type: StfType.INST_REG, register: 6, meta: 0x23, values: vector },
    { type: StfType.INST_READY_REG, register: 4 },
    {
      type: StfType.PAGE_TABLE_WALK,
      address: 0x7000n,
      firstIndex: 1n,
      pageSize: 4096,
      entries: [
        { address: 1n, entry: 2n },
        { address: 3n, entry: (1n << 64n) - 1n },
      ],
    },
    { type: StfType.PAGE_TABLE_WALK, address: 0x8000n, firstIndex: 1n, pageSize: 4096, entries: [] },
    { type: StfType.INST_MEM_ACCESS, address: 0x7008n, size: 8, attributes: 0x55aa, access: 1 },
    { type: StfType.INST_MEM_CONTENT, value: 0xdead_beef_0000_0001n },
    { type: StfType.BUS_MASTER_ACCESS, address: 9n, size: 64, source: 3, index: 4, attributes: 5, access: 2 },
    { type: StfType.BUS_MASTER_CONTENT, value: 6n },
    { type: StfType.EVENT, id: (1n << 63n) | 7n, data: [0n] },
    { type: StfType.EVENT_PC_TARGET, pc: 0x9000_0000n },
    { type: StfType.EVENT, id: 1n << 62n, data: [] },
    { type: StfType.INST_MICROOP, size: 4, op: 0x13 },
    { type: StfType.INST_OPCODE32, bits: 0x0000_0013 },
    { type: StfType.INST_PC_TARGET, pc: 0x9000_0100n },
    { type: StfType.INST_OPCODE16, bits: 0xa001 },
    { type: StfType.EVENT, id: 13n, data: [0x9000_0100n, 0x503n, 0x10n] },
    { type: StfType.EVENT_PC_TARGET, pc: 0x9000_0200n },
    { type: StfType.INST_OPCODE32, bits: 0x503 },
    { type: StfType.PROCESS_ID_EXT, hwThread: 0, process: 9, thread: 8 },
    { type: StfType.FORCE_PC, pc: 0xffff_ffff_ffff_fffcn },
    { type: StfType.INST_OPCODE32, bits: 0x33 },
    { type: StfType.INST_OPCODE32, bits: 0x33 },
    { type: StfType.COMMENT, text: text('behind the last instruction') },
  ];
}

export function everyTransaction(): StfRecord[] {
  const head = { type: StfType.TRANSACTION, delta: 10n, clock: 1, metadata: [] } as const;
  const message = { code: 1, param: 2, size: 3, source: 4n, data: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9) };
  return [
    { type: StfType.IDENTIFIER },
    { type: StfType.VERSION, major: 1, minor: 6 },
    { type: StfType.TRACE_INFO, generator: 65, version: [0, 1, 0], text: text('fixture') },
    { type: StfType.TRACE_INFO_FEATURE, features: bit(StfFeature.TRANSACTIONS) },
    { type: StfType.PROTOCOL_ID, protocol: 1 },
    { type: StfType.CLOCK_ID, clock: 1, text: text('bus') },
    { type: StfType.CLOCK_ID, clock: 2, text: text('core') },
    { type: StfType.END_HEADER },
    { ...head, ...message, id: 1n, channel: 1, address: 5n, maskBits: 9, mask: Uint8Array.of(0xf5, 1) },
    { type: StfType.TRANSACTION_DEPENDENCY, id: 1n, delta: 2n, clock: 2 },
    {
      ...head,
      ...message,
      id: 2n,
      channel: 2,
      data: new Uint8Array(0),
      address: 6n,
      maskBits: 0,
      mask: new Uint8Array(0),
      metadata: [
        { width: 0, value: 1n },
        { width: 1, value: 2n },
        { width: 2, value: 3n },
        { width: 3, value: (1n << 64n) - 1n },
      ],
    },
    { ...head, ...message, id: 3n, channel: 3, address: 7n },
    { ...head, ...message, id: 4n, channel: 4, sink: 8n },
    { ...head, id: 5n, channel: 5, sink: 9n },
  ];
}

export async function written(
  records: readonly StfRecord[],
  options: StfWriterOptions = {},
): Promise<Uint8Array> {
  const output = new MemoryOutput();
  const writer = new StfWriter(output, options);
  for (const record of records) writer.record(record);
  await writer.close();
  return output.bytes;
}
