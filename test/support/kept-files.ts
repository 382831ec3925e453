/** Files of other formats with a mark for everything that a conversion can keep or lose, and the words that are searched. */
import { readFileSync } from 'node:fs';
import { everything as ctraceFile } from './ctrace-files.js';
import { everyEntry, written as fluxFile, put } from './flux-fixtures.js';
import { everything as everyTransaction, written as ftrFile } from './ftr-fixtures.js';
import { VcdText } from './vcd-text.js';

export interface MarkedFile {
  readonly bytes: Uint8Array | Promise<Uint8Array>;
  /** By row of the page's table: what is searched in the file, and in the file that is made of the trace or, where none is, in the trace. */
  readonly marks: Readonly<Record<string, string | bigint | RegExp>>;
  readonly map?: string;
  /** Without this package the file comes back in another form. */
  readonly needsZstd?: true;
}

const vector = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(new URL(`../vectors/${name}`, import.meta.url)));
const text = (lines: readonly string[]): Uint8Array => new TextEncoder().encode(`${lines.join('\n')}\n`);

const KANATA = text([
  'Kanata\t0004',
  'C=\t100',
  'I\t5\t77001\t3',
  'L\t5\t0\t00001234: add x1, x2, x3',
  'L\t5\t1\tdetail_mark',
  'S\t5\t0\tFq',
  'S\t5\t2\tLane2mark',
  'C\t1',
  'C\t1\tcolumn_mark',
  'I\t6\t77002\t3',
  'S\t6\t0\tFq',
  'E\t5\t2\tLane2mark',
  'W\t6\t5\t4',
  'C\t1',
  'R\t5\t990\t0',
  'R\t6\t991\t1',
]);

const GEM5 = text([
  '13000: system.cpu.rename: [tid:0]: Renaming arch reg 1 (IntRegClass) to physical reg 152 (152). [sn:77001]',
  '14000: system.cpu.rename: [tid:2]: Looking up IntRegClass arch reg 1, got phys reg 152 (IntRegClass) [sn:77002]',
  '14500: system.cpu.iew.lsq.thread0: Doing write to store idx 2, addr 0xfeed5708 | storeHead:1 [sn:77002]',
  '14777: system.cpu.rob: Squashed [sn:77002]',
  '14777: global: RegFile: Setting int register 125 to 0x4af123',
  'O3PipeView:fetch:11000:0x5ca1ab1e:0:77001:  addi_mark   a0, a0, 1',
  'O3PipeView:decode:12000',
  'O3PipeView:rename:13000',
  'O3PipeView:dispatch:14000',
  'O3PipeView:issue:15000',
  'O3PipeView:complete:16000',
  'O3PipeView:retire:17000:store:23000',
  'O3PipeView:fetch:12000:0x5ca1ab22:7:77002:  nop',
  'O3PipeView:decode:13000',
  'O3PipeView:rename:14000',
  'O3PipeView:dispatch:0',
  'O3PipeView:issue:0',
  'O3PipeView:complete:0',
  'O3PipeView:retire:0:store:0',
]);

const SPIKE = text([
  'core   0: >>>>  symbol_mark',
  'core   0: 0x0000000080000008 (0x00b50533) add_mark a0, a0, a1',
  'core   0: 3 0x0000000080000008 (0x00b50533) x10 0x000000000badcafe',
  'core   0: 3 0x000000008000000c (0x30529073) c773_mtvec 0x0000000000765430',
  'core   0: 3 0x0000000080000010 (0x00a5a023) mem 0x0000000080009870 0x00ace0f5',
  'core   0: 3 0x0000000080000014 (0x0005a503) x10 0x0000000000000001 mem 0x0000000080008760',
  'core   0: 3 0x0000000080000018 (0x0d0572d7) e8 m1 l16 v1 0x0123',
  'core   0: 0x000000008000001c (0x00000000) unimp',
  'core   0: exception trap_illegal_instruction, epc 0x000000008000001c',
  'core   0:           tval 0x0000000000086420',
]);

const WIDE = (0xfeed_face_cafe_beefn << 64n) | 5n;

function wave(): Uint8Array {
  const vcd = new VcdText([
    { path: 'tb.clk', width: 1 },
    { path: 'tb.named', width: 32 },
    { path: 'tb.other', width: 32 },
    { path: 'tb.wide', width: 128 },
    { path: 'tb.ratio', width: 64, kind: 'real' },
    { path: 'tb.word', width: 0, kind: 'string' },
  ]);
  const first = {
    'tb.named': 918_273,
    'tb.other': 546_372,
    'tb.wide': WIDE,
    'tb.ratio': 'r2.75',
    'tb.word': 'sstring_mark',
  };
  vcd.step(0, { 'tb.clk': 0, ...first }).step(5, { 'tb.clk': 1 });
  vcd
    .step(10, { 'tb.clk': 0 })
    .step(12, { 'tb.named': 645_372 })
    .step(13, { 'tb.named': 'x1' })
    .step(15, { 'tb.clk': 1 });
  vcd.step(20, { 'tb.clk': 0 }).step(25, { 'tb.clk': 1 });
  return vcd.bytes;
}

/** By the format's name. */
export const MARKED_FILES: Readonly<Record<string, MarkedFile>> = {
  konata: {
    bytes: KANATA,
    marks: {
      'numbers of instructions (id, gid)': 'I\t5\t77001',
      threads: /I\t5\t77001\t3/,
      'labels of kind 0': 'add x1, x2, x3',
      'labels of other kinds': 'L\t5\t1\tdetail_mark',
      'stages of lane 0': 'S\t5\t0\tFq',
      'stages of other lanes, with their ends': /S\t5\t2\tLane2mark[\s\S]*E\t5\t2\tLane2mark/,
      'dependencies with their types': 'W\t6\t5\t4',
      'retire numbers': 'R\t5\t990\t0',
      'flushed instructions': 'R\t6\t991\t1',
      'the cycle at which the log begins': 'C=\t100',
      'how cycles are counted': 'C\t1\nC\t1',
      'columns after those of a command': 'column_mark',
    },
  },
  gem5: {
    bytes: GEM5,
    marks: {
      addresses: 0x5ca1ab1en,
      'sequence numbers': 77_001n,
      disassembly: 'addi_mark',
      'numbers of micro-operations': /micro-op 7|0x5ca1ab22:7:/,
      'ticks of stages': 15_000n,
      'ticks at which stores had written': 23_000n,
      threads: /tid:2|entities\[\d+\] 2\b/,
      'sources of instructions (Rename)': /Looking up|dependency/,
      'addresses of memory accesses (LSQUnit)': 0xfeed5708n,
      'ticks of squashes': 14_777n,
      'values of registers (RegFile)': 0x4af123n,
    },
  },
  spike: {
    bytes: SPIKE,
    marks: {
      addresses: 0x80000008n,
      'machine code': 0x00b50533n,
      'registers written': 0x0badcafen,
      'CSRs written': 0x765430n,
      'addresses of stores': 0x80009870n,
      'values of stores': 0x00ace0f5n,
      'addresses of loads': 0x80008760n,
      'vector configuration and registers': 'e8 m1 l16',
      'causes of traps, tval': 0x86420n,
      disassembly: 'add_mark',
      symbols: 'symbol_mark',
    },
  },
  qemu: {
    bytes: vector('qemu/rv32-singlestep.log'),
    marks: {
      addresses: 0x1004n,
      'machine code': 0x02828613n,
      'registers that an instruction writes': 0x1028n,
      disassembly: 'a2,t0,40',
      CSRs: 'mscratch',
    },
  },
  vcd: {
    bytes: wave(),
    map: 'waves: 1\nclock: tb.clk\nscopes: {top: {storages: {named: tb.named, wide: tb.wide, ratio: tb.ratio, word: tb.word}}}\n',
    marks: {
      'values at clock edges of signals that the map names': 918_273n,
      // In the trace its upper 64 bits are a field.
      'vectors wider than 64 bits': new RegExp(`\\b(${WIDE}|${WIDE >> 64n})\\b`),
      reals: '2.75',
      strings: 'string_mark',
      'signals that the map does not name': 546_372n,
      'changes between clock edges': 645_372n,
      'bits that are x or z': /bx1 /,
    },
  },
  ftr: {
    bytes: ftrFile(everyTransaction()),
    marks: {
      'streams: ids, names, kinds': 'stream 1 "top.bus" kind "transactor"',
      'generators: ids, names, streams': 'generator 3 "read.events" stream 1',
      'transactions: ids, times': /tx 1 generator 2 "read" 100\.\.200/,
      'attributes: phase, name, type, value': 'begin:colour:ENUMERATION="RED"',
      'strings that are not UTF-8': 's\ufffd',
      'relations, dangling ones too': 'relation "dangling" 999 (stream 1) -> 77 (stream 300)',
      'time of creation': 'created: 2025-11-20T11:23:18',
      'compression of chunks': 'FTR (LZ4)',
      'numbers of strings': 'text 6 "evA"',
    },
  },
  flux: {
    bytes: fluxFile(
      (file) => put(file.trace({ traceId: 7, name: 'all kinds', description: 'µ' }), everyEntry()),
      { compress: 'zlib' },
    ),
    marks: {
      'traces: ids, names, descriptions': "trace=7 name='all kinds' descr='µ'",
      'scopes, signals, references': "SIRD ref=20 parent=1 name='again' descr='a reference'",
      'values of every type': 'int 9223372036854775807',
      'tags (conflict)': 'conflict int 127',
      'enumerations, members': "ENMD id=10 enum=0 label='on' value=70000",
      'relations, labels': 'ATLA id=10 style=1 x=5 y=-1',
      'groups, domains, positions': 'CURR id=0 pos=4294967301',
      'control requests and results': 'CREQ',
      packing: 'packing: zlib',
    },
  },
  ctrace: {
    bytes: ctraceFile({ compression: 'none' }),
    needsZstd: true,
    marks: {
      'messages with their arguments': 't8=18446744073709551615',
      'cycles, later ones first': '[         7]',
      'formats: text, file, line': '(unit.cpp:12)',
      units: '2: cpu/fetch',
      'name of the simulation': 'fixture µ',
      'time of creation': '2026-11-20',
      'arguments of unknown formats': '[unknown format]',
      'compression of blocks': /^Chronon .ctrace 1.1$/m,
    },
  },
  stf: {
    bytes: vector('stf/every-record.stf.gz'),
    marks: {
      instructions: 'INST_OPCODE16',
      registers: 'SOURCE V[0x6] 0x0000000000000001 0xffffffffffffffff',
      'memory accesses': 'addr=0x7008 size=8 attr=0x55aa',
      'page walks': 'pte=0xffffffffffffffff',
      events: /EVENT +0x8000000000000007/,
      'records of the header, comments': "'zero\\u0000inside'",
      packing: 'gzip',
    },
  },
};
