/** What is written when a trace is finalized (docs/reference/format.md#sections), and compressed blobs (docs/reference/format.md#compression): vectors. */
import { hex, toHex } from './hex.js';
import { vector } from './vector.js';

const tables = [
  vector(
    'string-table',
    'string-table',
    'an empty string, one beyond ASCII, one with a NUL inside',
    hex`
      04 00 00 00 00 00 00 00
      00 00 00 00 03 00 00 00  04 00 00 00 00 00 00 00  05 00 00 00 03 00 00 00  09 00 00 00 03 00 00 00
      "nop" 00  00  c2 b5 "s" 00  "a" 00 "b" 00`,
    { value: ['nop', '', 'µs', 'a\0b'] },
  ),
  vector('string-table-empty', 'string-table', 'no strings', hex`00*8`, { value: [] }),
  vector(
    'error-string-table-count',
    'string-table',
    'more entries than there are bytes',
    hex`ff ff ff ff 00*12`,
    { error: 'FORMAT_TRUNCATED' },
  ),
  vector(
    'error-string-table-length',
    'string-table',
    'a string that reaches past the table',
    hex`01 00 00 00 00 00 00 00  02 00 00 00 02 00 00 00  "abc"`,
    { error: 'FORMAT_LENGTH' },
  ),
  vector(
    'segment-table',
    'segment-table',
    'two segments',
    hex`
      88 00*7  00*8                     00 e1 f5 05 00*4
      00 00 00 00 01 00*3  00 e1 f5 05 00*4  ff*8`,
    {
      value: [
        { offset: '136', timeStartPs: '0', timeEndPs: '100000000' },
        { offset: '4294967296', timeStartPs: '100000000', timeEndPs: '18446744073709551615' },
      ],
    },
  ),
  vector('error-segment-table-size', 'segment-table', 'not a multiple of 24 bytes', hex`00*25`, {
    error: 'FORMAT_LENGTH',
  }),
  vector(
    'section-table',
    'section-table',
    'sections in any order, one of unknown type; END is 24 zero bytes',
    hex`
      10 00 00 00 00 00 00 00  00 10 00 00 00 00 00 00  59 00 00 00 00 00 00 00
      02 00 00 00 00 00 00 00  60 10 00 00 01 00 00 00  1f 00 00 00 00 00 00 00
      00 01 07 00 00 00 00 00  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
      03 00 00 00 00 00 00 00  80 10 00 00 01 00 00 00  18 00 00 00 00 00 00 00
      00*24`,
    {
      value: [
        { type: 16, flags: 0, offset: '4096', size: '89' },
        { type: 2, flags: 0, offset: '4294971488', size: '31' },
        { type: 256, flags: 7, offset: '0', size: '0' },
        { type: 3, flags: 0, offset: '4294971520', size: '24' },
      ],
    },
  ),
  vector('error-section-table-end', 'section-table', 'END is missing', hex`02 00*15 01 00*7`, {
    error: 'FORMAT_TRUNCATED',
  }),
];

const level = (min: string[], max: string[], sum: string[]) => ({ min, max, sum });
const COUNTER = hex`
  09 00 00 00 "committed"  01 00  02 00 00 00   # storage 1, 2 levels
  03 00 00 00
  01 00*7  02 00*7  0a 00*7
  00*24
  03 00*7  05 00*7  00 00 00 00 01 00*3
  01 00 00 00
  01 00*7  05 00*7  0a 00 00 00 01 00*3`;
const COUNTER_JSON = {
  name: 'committed',
  storageId: 1,
  levels: [
    level(['1', '0', '3'], ['2', '0', '5'], ['10', '0', '4294967296']),
    level(['1'], ['5'], ['4294967306']),
  ],
};

const summaries = [
  vector(
    'tsum',
    'summary',
    'density and one counter, two levels each; a bucket without a non-zero cycle is all zeros and takes no part in the minimum above',
    hex`
      "TSUM" 00 04 00 00  04 00 00 00  03 00 00 00 01 00 00 00   # 1024 cycles, fan-out 4, 2^32 + 3 instructions
      02 00 00 00
      03 00 00 00  01 00 00 00  00 00 00 00  02 00 00 00
      01 00 00 00  03 00 00 00
      01 00 00 00 ${COUNTER}`,
    {
      value: {
        baseIntervalCycles: 1024,
        fanOut: 4,
        totalInstructions: '4294967299',
        density: [[1, 0, 2], [3]],
        counters: [COUNTER_JSON],
      },
    },
  ),
  vector(
    'csum',
    'summary',
    'the older form: counters only',
    hex`"CSUM" 00 04 00 00  04 00 00 00  01 00 00 00 ${COUNTER}`,
    {
      value: {
        baseIntervalCycles: 1024,
        fanOut: 4,
        totalInstructions: '0',
        density: [],
        counters: [COUNTER_JSON],
      },
      decodeOnly: true,
    },
  ),
  vector(
    'error-tsum-entries',
    'summary',
    'a level of 2^30 entries',
    hex`"TSUM" 00 04 00 00  04 00 00 00  00*8  01 00 00 00  00 00 00 40  00*12`,
    { error: 'FORMAT_TRUNCATED' },
  ),
];

const RAW = toHex(hex`"abc" "abcabcabcabcabcabcab" "xyzzy"`);
const BLOCK = hex`
  3f "abc" 03 00 01   # 3 literals, then 4 + 15 + 1 bytes from 3 back: source and destination overlap
  50 "xyzzy"          # 5 literals, no match: the last sequence`;

const compressed = [
  vector('lz4-block', 'lz4', 'a bare block, with an overlapping match and a long match length', BLOCK, {
    context: { rawSize: 28 },
    value: RAW,
    decodeOnly: true,
  }),
  vector('lz4-framed', 'lz4', 'as written: u32 raw size, then the block', hex`1c 00 00 00 ${BLOCK}`, {
    context: { rawSize: 28 },
    value: RAW,
    decodeOnly: true,
  }),
  vector('lz4-literals', 'lz4', 'literals only, with a long length', hex`f0 05 "01234567890123456789"`, {
    context: { rawSize: 20 },
    value: toHex(hex`"01234567890123456789"`),
    decodeOnly: true,
  }),
  vector('error-lz4-distance', 'lz4', 'a match from before the start', hex`10 "a" 02 00 50 "xyzzy"`, {
    context: { rawSize: 10 },
    error: 'FORMAT_COMPRESSION',
  }),
  vector(
    'error-lz4-overrun',
    'lz4',
    'a match that would write past the raw size',
    hex`1f "a" 01 00 ff 00 10 "b"`,
    {
      context: { rawSize: 20 },
      error: 'FORMAT_COMPRESSION',
    },
  ),
  vector('error-lz4-short', 'lz4', 'less data than promised', hex`10 "a"`, {
    context: { rawSize: 2 },
    error: 'FORMAT_COMPRESSION',
  }),
];

export const tailVectors = [...tables, ...summaries, ...compressed];
