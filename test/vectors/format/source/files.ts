/** Whole small files: vectors. A file's parts stand at the offsets its JSON names, with zeros between them. */
import { hex, toHex } from './hex.js';
import { headerJson, MINIMAL_PREAMBLE, MINIMAL_PREAMBLE_JSON, SESSION } from './preamble.js';
import { field, STRING_REF, schema, U64, vector } from './vector.js';

/** One counter and one event with a string. */
const SCHEMA = schema({
  storages: [
    {
      name: 'cnt',
      storageId: 0,
      numSlots: 1,
      flags: 0,
      scopeId: 0,
      fields: [field('n', U64)],
      properties: [],
    },
  ],
  events: [{ name: 'note', eventTypeId: 0, scopeId: 0, fields: [field('text', STRING_REF)] }],
});

const CHUNKS = hex`
  01 00 00 00 04 00 00 00  00*8                     # DUT without properties
  02 00 00 00 5e 00 00 00                           # schema, 94 bytes
  00 01 01 00 01 00 01 00 00 00 48 00               # 1 clock, 1 scope, 1 storage, 1 event, pool at 72
  00 00 00 00 e8 03 00 00
  04 00 00 00 ff ff ff ff ff 00 00 00
  06 00 00 00 01 00 01 00 00 00 00 00 00 00 00 00   # cnt, 1 slot, 1 field, dense, scope 0
  0a 00 04 00 00*4                                  # n U64
  0c 00 00 00 01 00 00 00                           # note, 1 field
  11 00 0a 00 00*4                                  # text STRING_REF
  "clk" 00 "/" 00 "cnt" 00 "n" 00 "note" 00 "text" 00  00 00
  03 00 00 00 08 00 00 00  10 27 00 00 00 00 00 00`;
const PREAMBLE = hex`${CHUNKS} 00*8`;
const PREAMBLE_JSON = { ...MINIMAL_PREAMBLE_JSON, schema: SCHEMA };

/** t = 1000 ps: cnt += 5 and note(string 0); 25 bytes. */
const DELTAS_0 = hex`e8 07  02 00  02 03 00 00 00 00 00 05 00  03 00 00 00 04 00 00 00 00 00 00 00`;
const FRAMES_0 = [
  {
    timePs: '1000',
    items: [
      { kind: 'op', action: 3, storageId: 0, slot: 0, field: 0, value: '5' },
      { kind: 'event', eventTypeId: 0, payload: '00000000' },
    ],
  },
];
/** t = 3000 ps: cnt += 7; 13 bytes. */
const DELTAS_1 = hex`e8 07  01 00  02 03 00 00 00 00 00 07 00`;
const FRAMES_1 = [
  { timePs: '3000', items: [{ kind: 'op', action: 3, storageId: 0, slot: 0, field: 0, value: '7' }] },
];
const CHECKPOINT_0 = hex`00 00 00 00 08 00 00 00  00*8`;
const CHECKPOINT_1 = hex`00 00 00 00 08 00 00 00  05 00*7`;
const block = (slotData: string) => [{ storageId: 0, mask: null, slotData, propertyData: '' }];
const BLOCKS_0 = block('0000000000000000');
const BLOCKS_1 = block('0500000000000000');

const segmentHeader = (rest: { [key: string]: string | number }) => ({
  flags: 0,
  timeStartPs: '0',
  timeEndPs: '2000',
  prevSegmentOffset: '0',
  checkpointSize: 16,
  deltasCompressedSize: 25,
  deltasRawSize: 25,
  numFrames: 1,
  numFramesActive: 1,
  ...rest,
});

const SEGMENT_0 = hex`
  "uSEG" 00*4  00*8  d0 07 00*6  00*8        # 0..2000 ps, first
  10 00 00 00  19 00 00 00  19 00 00 00  01 00 00 00  01 00 00 00  00*4
  ${CHECKPOINT_0} ${DELTAS_0}`;

/** @param prev file offset of segment 0, below 65,536 */
const segment1 = (prev: Uint8Array) => hex`
  "uSEG" 00*4  d0 07 00*6  b9 0b 00*6  ${prev} 00*6   # 2000..3001 ps
  10 00 00 00  0d 00 00 00  0d 00 00 00  01 00 00 00  01 00 00 00  00*4
  ${CHECKPOINT_1} ${DELTAS_1}`;

const segment1Header = (prevSegmentOffset: string) =>
  segmentHeader({
    timeStartPs: '2000',
    timeEndPs: '3001',
    prevSegmentOffset,
    deltasCompressedSize: 13,
    deltasRawSize: 13,
  });

const file = (rest: object) => ({
  segments: [],
  sections: null,
  summary: null,
  strings: null,
  segmentTable: null,
  ...rest,
});

const finalized = [
  vector(
    'file-empty',
    'file',
    'finalized without a single frame: no segments, no SEGMENTS section',
    hex`
      "uSCP" 00 00 03 00  81 00*7  00*8  00*4  88 00 00 00  88 00*7  00*8
      ${MINIMAL_PREAMBLE}
      00*24`,
    {
      value: file({
        header: headerJson({ flags: 0x81, sectionTableOffset: '136' }),
        preamble: MINIMAL_PREAMBLE_JSON,
        sections: [],
      }),
    },
  ),
  vector(
    'file-finalized',
    'file',
    'two segments, summary, string table, segment table, section table; all 8-aligned, not compressed',
    hex`
      "uSCP" 00 00 03 00  85 00*7  b8 0b 00*6  02 00 00 00  c0 00 00 00  10 02 00*6  28 01 00*6
      ${PREAMBLE}                                        # up to 192
      ${SEGMENT_0} 00*7                                  # 192..289, padded to 296
      ${segment1(hex`c0 00`)} 00*3                       # 296..381, padded to 384
      "TSUM" 00 04 00 00  04 00 00 00  00*8  00*4        # 384: no density
      01 00 00 00  03 00 00 00 "cnt" 00 00  01 00 00 00
      01 00 00 00  05 00*7  07 00*7  0c 00*7  00*3       # ..453, padded to 456
      01 00 00 00 00*4  00*4 05 00 00 00  "hello" 00  00 00   # 456..478, padded to 480
      c0 00*7  00*8  d0 07 00*6                          # 480: segment table
      28 01 00*6  d0 07 00*6  b9 0b 00*6
      10 00 00 00 00*4  80 01 00*6  45 00*7              # 528: section table
      02 00 00 00 00*4  c8 01 00*6  16 00*7
      03 00 00 00 00*4  e0 01 00*6  30 00*7
      00*24`,
    {
      value: file({
        header: headerJson({
          flags: 0x85,
          totalTimePs: '3000',
          numSegments: 2,
          preambleEnd: 192,
          sectionTableOffset: '528',
          tailOffset: '296',
        }),
        preamble: PREAMBLE_JSON,
        segments: [
          { offset: '192', header: segmentHeader({}), checkpoint: BLOCKS_0, frames: FRAMES_0 },
          { offset: '296', header: segment1Header('192'), checkpoint: BLOCKS_1, frames: FRAMES_1 },
        ],
        sections: [
          { type: 16, flags: 0, offset: '384', size: '69' },
          { type: 2, flags: 0, offset: '456', size: '22' },
          { type: 3, flags: 0, offset: '480', size: '48' },
        ],
        summary: {
          baseIntervalCycles: 1024,
          fanOut: 4,
          totalInstructions: '0',
          density: [],
          counters: [{ name: 'cnt', storageId: 0, levels: [{ min: ['5'], max: ['7'], sum: ['12'] }] }],
        },
        strings: ['hello'],
        segmentTable: [
          { offset: '192', timeStartPs: '0', timeEndPs: '2000' },
          { offset: '296', timeStartPs: '2000', timeEndPs: '3001' },
        ],
      }),
    },
  ),
  vector(
    'file-lz4',
    'file',
    'one segment whose deltas are an LZ4 block behind its raw size',
    hex`
      "uSCP" 00 00 03 00  83 00*7  e8 03 00*6  01 00 00 00  c0 00 00 00  40 01 00*6  c0 00*7
      ${PREAMBLE}
      "uSEG" 00*4  00*8  d0 07 00*6  00*8
      10 00 00 00  1f 00 00 00  19 00 00 00  01 00 00 00  01 00 00 00  00*4
      ${CHECKPOINT_0}
      19 00 00 00  f0 0a ${DELTAS_0}  00                 # ..295, padded to 296
      c0 00*7  00*8  d0 07 00*6
      03 00 00 00 00*4  28 01 00*6  18 00*7              # 320
      00*24`,
    {
      value: file({
        header: headerJson({
          flags: 0x83,
          totalTimePs: '1000',
          numSegments: 1,
          preambleEnd: 192,
          sectionTableOffset: '320',
          tailOffset: '192',
        }),
        preamble: PREAMBLE_JSON,
        segments: [
          {
            offset: '192',
            header: segmentHeader({ deltasCompressedSize: 31 }),
            checkpoint: BLOCKS_0,
            frames: FRAMES_0,
            lz4Block: toHex(hex`f0 0a ${DELTAS_0}`),
          },
        ],
        sections: [{ type: 3, flags: 0, offset: '296', size: '24' }],
        segmentTable: [{ offset: '192', timeStartPs: '0', timeEndPs: '2000' }],
      }),
    },
  ),
];

const others = [
  vector(
    'file-live',
    'file',
    'being written: session chunk, a commit record behind each segment, num_segments one late, no section table',
    hex`
      "uSCP" 00 00 03 00  80 00*7  00*8  01 00 00 00  48 01 00 00  00*8  f0 01 00*6
      ${CHUNKS}
      01 ff 00 00 80 00 00 00                            # session chunk, payload at 192
      01 00 00 00  00 00 00 00
      00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f
      f0 f1 f2 f3 f4 f5 f6 f7 f8 f9 fa fb fc fd fe ff
      ff ff ff ff  00*4  00 68 e5 cf 8b 01 00 00  00*8  00*16  00*48
      00*8
      ${SEGMENT_0} 00*7                                  # 328..425, padded to 432
      "uREC" 40 00 00 00  b3 9d f5 63  01 00 00 00       # 432: frame 0 and string 0 are durable
      48 01 00*6  01 00*7  01 00*7  61 00*7
      05 00 00 00 "hello" 00*7
      ${segment1(hex`48 01`)} 00*3                       # 496..581, padded to 584
      "uREC" 30 00 00 00  86 5b 03 89  00 00 00 00
      f0 01 00*6  02 00*7  01 00*7  55 00*7`,
    {
      value: file({
        header: headerJson({ flags: 0x80, numSegments: 1, preambleEnd: 328, tailOffset: '496' }),
        preamble: {
          ...MINIMAL_PREAMBLE_JSON,
          schema: SCHEMA,
          sessionChunkOffset: 192,
          session: {
            ...SESSION,
            status: 0,
            coreIndex: 0xffffffff,
            endTimeMs: '0',
            lost: '0',
            rejected: '0',
          },
        },
        segments: [
          {
            offset: '328',
            header: segmentHeader({}),
            checkpoint: BLOCKS_0,
            frames: FRAMES_0,
            commit: {
              offset: '432',
              size: 64,
              crc: 0x63f59db3,
              segmentOffset: '328',
              segmentSize: 97,
              nextFrame: '1',
              nextString: '1',
              strings: [toHex(hex`"hello"`)],
            },
          },
          {
            offset: '496',
            header: segment1Header('328'),
            checkpoint: BLOCKS_1,
            frames: FRAMES_1,
            commit: {
              offset: '584',
              size: 48,
              crc: 0x89035b86,
              segmentOffset: '496',
              segmentSize: 85,
              nextFrame: '2',
              nextString: '1',
              strings: [],
            },
          },
        ],
      }),
    },
  ),
  vector(
    'file-minor-1',
    'file',
    'version 0.1: short storage header, string_pool_offset 2 too large, frames of version 0.1 with compact ops; parts not aligned',
    hex`
      "uSCP" 00 00 01 00  41 00*7  e8 03 00*6  01 00 00 00  a0 00 00 00  11 01 00*6  a0 00*7
      01 00 00 00 04 00 00 00  00*8
      02 00 00 00 40 00 00 00
      00 01 01 00 01 00 00 00 00 00 36 00               # pool said to be at 54, truly at 52
      00 00 00 00 e8 03 00 00
      04 00 00 00 ff ff ff ff ff 00 00 00
      06 00 00 00 01 00 01 00 00 00 00 00
      0a 00 04 00 00*4
      "clk" 00 "/" 00 "cnt" 00 "n" 00
      03 00 00 00 08 00 00 00  10 27 00 00 00 00 00 00
      00*8
      "uSEG" 00*4  00*8  e8 03 00*6  00*8               # 160
      10 00 00 00  10 00 00 00  10 00 00 00  01 00 00 00  01 00 00 00  00*4
      ${CHECKPOINT_0}
      e8 07  01 00  01 00  00 00                        # 1000 ps later: 1 compact op, no events
      03 00 00 00 00 00 05 00
      00                                                # 248
      a0 00*7  00*8  e8 03 00*6                         # 249: segment table
      03 00 00 00 00*4  f9 00*7  18 00*7                # 273: section table
      00*24`,
    {
      value: file({
        header: headerJson({
          versionMinor: 1,
          flags: 0x41,
          totalTimePs: '1000',
          numSegments: 1,
          preambleEnd: 160,
          sectionTableOffset: '273',
          tailOffset: '160',
        }),
        preamble: {
          ...MINIMAL_PREAMBLE_JSON,
          schema: { ...SCHEMA, events: [] },
        },
        segments: [
          {
            offset: '160',
            header: segmentHeader({ timeEndPs: '1000', deltasCompressedSize: 16, deltasRawSize: 16 }),
            checkpoint: BLOCKS_0,
            frames: [{ timePs: '1000', items: [FRAMES_0[0].items[0]] }],
          },
        ],
        sections: [{ type: 3, flags: 0, offset: '249', size: '24' }],
        segmentTable: [{ offset: '160', timeStartPs: '0', timeEndPs: '1000' }],
      }),
      decodeOnly: true,
    },
  ),
];

export const fileVectors = [...finalized, ...others];
