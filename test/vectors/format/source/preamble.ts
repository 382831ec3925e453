/** File header and preamble (docs/reference/format.md#file-header, #preamble): vectors. */
import { hex, toHex } from './hex.js';
import { schema, vector } from './vector.js';

/** A file header's JSON; what is not given is as in a trace just begun. */
export const headerJson = (rest: { [key: string]: string | number }) => ({
  versionMajor: 0,
  versionMinor: 3,
  flags: 0x82,
  totalTimePs: '0',
  numSegments: 0,
  preambleEnd: 136,
  sectionTableOffset: '0',
  tailOffset: '0',
  ...rest,
});

const DUT_CHUNK = hex`
  01 00 00 00  04 00 00 00   # DUT, 4 bytes
  00 00 00 00  00 00 00 00   # no properties; padding`;

const SCHEMA_CHUNK = hex`
  02 00 00 00  26 00 00 00   # schema, 38 bytes
  00 01 01 00 00 00 00 00 00 00 20 00   # 0 enums, 1 clock, 1 scope, pool at 32
  00 00 00 00 e8 03 00 00               # clk, id 0, 1000 ps
  04 00 00 00 ff ff ff ff ff 00 00 00   # "/", id 0, no parent, no protocol, clock inherited
  "clk" 00 "/" 00
  00 00                      # padding`;

const CONFIG_CHUNK = hex`03 00 00 00 08 00 00 00  10 27 00 00 00 00 00 00  # every 10,000 ps`;
const END_CHUNK = hex`00*8`;

const SESSION_PAYLOAD = hex`
  01 00 00 00  03 00 00 00   # layout 1, recovered
  00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f
  f0 f1 f2 f3 f4 f5 f6 f7 f8 f9 fa fb fc fd fe ff
  07 00 00 00  00 00 00 00   # core 7
  00 68 e5 cf 8b 01 00 00    # 1,700,000,000,000 ms
  d2 6b e5 cf 8b 01 00 00    # 978 ms later
  05 00 00 00 00 00 00 00    # 5 lost
  00 00 00 00 01 00 00 00    # 2^32 rejected
  00*48`;

export const SESSION = {
  sessionId: '000102030405060708090a0b0c0d0e0f',
  runId: 'f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff',
  coreIndex: 7,
  status: 3,
  startTimeMs: '1700000000000',
  endTimeMs: '1700000000978',
  lost: '5',
  rejected: '4294967296',
};

const preamble = (rest: object = {}) => ({
  schema: schema(),
  dut: [],
  checkpointIntervalPs: '10000',
  session: null,
  sessionChunkOffset: null,
  unknownChunks: [],
  ...rest,
});

export const MINIMAL_PREAMBLE = hex`${DUT_CHUNK} ${SCHEMA_CHUNK} ${CONFIG_CHUNK} ${END_CHUNK}`;
export const MINIMAL_PREAMBLE_JSON = preamble();
const SESSION_PREAMBLE = hex`
  ${DUT_CHUNK} ${SCHEMA_CHUNK} ${CONFIG_CHUNK}
  01 ff 00 00 80 00 00 00 ${SESSION_PAYLOAD} ${END_CHUNK}`;
const SESSION_PREAMBLE_JSON = preamble({ session: SESSION, sessionChunkOffset: 136 });

/** Our own chunks first. The CRC-32s are those of another implementation (Python's zlib), for a header with flags 0x82. */
export const CHECKED_PREAMBLE = hex`
  01 ff 00 00 80 00 00 00 ${SESSION_PAYLOAD}   # payload at 56
  02 ff 00 00 20 00 00 00                      # checksums, payload at 192
  01 00 00 00                                  # layout 1
  27 f3 03 8f   # the preamble, both payloads as zeros
  f8 7a 54 f3   # the session's payload
  04 b6 3c 4c   # the header as it was when the trace began
  00*4 00*4 00*4 00*4                          # not finalized; not taken over from a damaged file
  ${DUT_CHUNK} ${SCHEMA_CHUNK} ${CONFIG_CHUNK} ${END_CHUNK}`;
const CHECKSUMS = {
  preamble: 0x8f03f327,
  session: 0xf3547af8,
  start: 0x4c3cb604,
  header: 0,
  sections: 0,
  isFromDamaged: false,
};

const POOL = hex`"dut_name" 00 "core0" 00 "cpu.isa" 00 "RV32I" 00 "boot" 00`;

export const preambleVectors = [
  vector(
    'header-open',
    'header',
    'a trace just begun: LZ4, interleaved frames, no segment yet',
    hex`"uSCP" 00 00 03 00  82 00 00 00 00 00 00 00  00*8  00 00 00 00  88 00 00 00  00*8  00*8`,
    { value: headerJson({}) },
  ),
  vector(
    'header-complete',
    'header',
    'finalized, with strings; every field in use, also beyond 32 bits',
    hex`
      "uSCP" 00 00 03 00
      87 00 00 00 00 00 00 00    # complete, compressed, strings, interleaved
      08 07 06 05 04 03 02 01    # total time
      1b 00 00 00  70 04 00 00   # 27 segments, preamble up to 1136
      98 03 00 00 02 00 00 00    # section table
      10 02 00 00 01 00 00 00    # last segment`,
    {
      value: headerJson({
        flags: 0x87,
        totalTimePs: '72623859790382856',
        numSegments: 27,
        preambleEnd: 1136,
        sectionTableOffset: '8589935512',
        tailOffset: '4294967824',
      }),
    },
  ),
  vector(
    'header-zstd',
    'header',
    'compression method 1 in bits 3 to 5',
    hex`"uSCP" 00 00 03 00  8a 00 00 00 00 00 00 00  00*8  00 00 00 00  88 00 00 00  00*8  00*8`,
    { value: headerJson({ flags: 0x8a }) },
  ),
  vector(
    'header-minor-1',
    'header',
    'version 0.1 with compact deltas, uncompressed',
    hex`"uSCP" 00 00 01 00  40 00 00 00 00 00 00 00  00*8  00 00 00 00  88 00 00 00  00*8  00*8`,
    { value: headerJson({ versionMinor: 1, flags: 0x40 }) },
  ),
  vector(
    'error-header-magic',
    'header',
    'another kind of file',
    hex`"uSCQ" 00 00 03 00  82 00 00 00 00 00 00 00  00*8  00 00 00 00  88 00 00 00  00*8  00*8`,
    { error: 'FORMAT_MAGIC' },
  ),
  vector(
    'error-header-method',
    'header',
    'reserved compression method 2',
    hex`"uSCP" 00 00 03 00  92 00 00 00 00 00 00 00  00*8  00 00 00 00  88 00 00 00  00*8  00*8`,
    { error: 'FORMAT_COMPRESSION' },
  ),
  vector(
    'preamble-minimal',
    'preamble',
    'the three mandatory chunks and END, nothing in them',
    MINIMAL_PREAMBLE,
    {
      context: { versionMinor: 3 },
      value: MINIMAL_PREAMBLE_JSON,
    },
  ),
  vector(
    'preamble-unknown-chunk',
    'preamble',
    'a chunk of unknown type with a size that needs padding is skipped',
    hex`${DUT_CHUNK} ${SCHEMA_CHUNK} ${CONFIG_CHUNK}
      34 12 00 00  05 00 00 00  "hello" 00*3
      ${END_CHUNK}`,
    {
      context: { versionMinor: 3 },
      value: preamble({
        unknownChunks: [{ type: 0x1234, flags: 0, payload: toHex(hex`"hello"`), offset: 136 }],
      }),
    },
  ),
  vector(
    'preamble-any-order',
    'preamble',
    'chunks may stand in any order: trace config, schema, DUT',
    hex`${CONFIG_CHUNK} ${SCHEMA_CHUNK} ${DUT_CHUNK} ${END_CHUNK}`,
    { context: { versionMinor: 3 }, value: preamble(), decodeOnly: true },
  ),
  vector(
    'preamble-session',
    'preamble',
    'with the session chunk, which other readers skip',
    SESSION_PREAMBLE,
    {
      context: { versionMinor: 3 },
      value: SESSION_PREAMBLE_JSON,
    },
  ),
  vector(
    'preamble-checksums',
    'preamble',
    'as a writer of this project begins a trace: session and checksums in the first sector of the file',
    CHECKED_PREAMBLE,
    {
      context: { versionMinor: 3 },
      value: preamble({
        session: SESSION,
        sessionChunkOffset: 56,
        checksums: CHECKSUMS,
        checksumOffset: 192,
      }),
      decodeOnly: true, // encoded by layOutPreamble, to which the header's flags belong
    },
  ),
  vector(
    'error-preamble-no-config',
    'preamble',
    'a mandatory chunk is missing',
    hex`${DUT_CHUNK} ${SCHEMA_CHUNK} ${END_CHUNK}`,
    { context: { versionMinor: 3 }, error: 'FORMAT_CHUNK_MISSING' },
  ),
  vector(
    'error-preamble-chunk-size',
    'preamble',
    'a chunk that promises more than there is',
    hex`${DUT_CHUNK} 34 12 00 00  ff ff ff ff  00*16`,
    { context: { versionMinor: 3 }, error: 'FORMAT_TRUNCATED' },
  ),
  vector('session-chunk', 'session-chunk', 'payload of the session chunk, every field set', SESSION_PAYLOAD, {
    value: SESSION,
  }),
  vector(
    'checksum-chunk',
    'checksum-chunk',
    'payload of the checksum chunk, every field set',
    hex`01 00 00 00  04 03 02 01  14 13 12 11  24 23 22 21  34 33 32 31  44 43 42 41  01 00 00 00  00*4`,
    {
      value: {
        preamble: 0x01020304,
        session: 0x11121314,
        start: 0x21222324,
        header: 0x31323334,
        sections: 0x41424344,
        isFromDamaged: true,
      },
    },
  ),
  vector('trace-config', 'trace-config', 'checkpoint interval', hex`00 ca 9a 3b 05 00 00 00`, {
    value: '22474836480',
  }),
  vector(
    'dut',
    'dut',
    "keys and values are offsets into the schema chunk's pool; a text used twice is stored once",
    hex`
      03 00 00 00
      00 00 09 00   # dut_name = core0
      0f 00 17 00   # cpu.isa = RV32I
      1d 00 09 00   # boot = core0`,
    {
      context: { pool: toHex(POOL) },
      value: [
        ['dut_name', 'core0'],
        ['cpu.isa', 'RV32I'],
        ['boot', 'core0'],
      ],
    },
  ),
];
