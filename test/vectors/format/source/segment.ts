/** Segment header, checkpoints, frames, commit record (docs/reference/format.md#segments): vectors. */
import { hex, toHex } from './hex.js';
import { BOOL, ENUM, field, schema, U16, U32, vector } from './vector.js';

const storage = (name: string, storageId: number, numSlots: number, flags: number, rest: object) => ({
  name,
  storageId,
  numSlots,
  flags,
  scopeId: 0,
  fields: [],
  properties: [],
  ...rest,
});

const SPARSE = schema({
  storages: [storage('q', 0, 12, 1, { fields: [field('id', U32), field('tag', U16)] })],
});
const DENSE = schema({
  storages: [storage('regs', 0, 2, 0, { fields: [field('v', U32), field('ok', BOOL)] })],
});
const PROPERTIES = schema({
  enums: [{ name: 'mode', values: [{ value: 0, name: 'on' }] }],
  storages: [
    storage('rob', 0, 8, 3, {
      fields: [field('id', U16)],
      properties: [field('head', U16, 0, 1), field('tail', U32, 0, 2), field('mode', ENUM)],
    }),
    storage('one', 1, 1, 0, { fields: [field('v', U16)], properties: [field('p', U16)] }),
    storage('last', 2, 3, 1, { fields: [field('v', U16)] }),
  ],
});

const checkpoints = [
  vector(
    'checkpoint-sparse',
    'checkpoint',
    'mask of 12 slots, LSB first, then the slots 1 and 9',
    hex`
      00 00 00 00 0e 00 00 00   # storage 0, 14 bytes
      02 02                     # valid: 1, 9
      01 00 00 00  11 00
      09 00 00 00  99 00`,
    {
      context: { schema: SPARSE },
      value: [{ storageId: 0, mask: '0202', slotData: '010000001100' + '090000009900', propertyData: '' }],
    },
  ),
  vector(
    'checkpoint-dense',
    'checkpoint',
    'all slots, no mask',
    hex`00 00 00 00 0a 00 00 00  78 56 34 12 01  ff ff ff ff 00`,
    {
      context: { schema: DENSE },
      value: [{ storageId: 0, mask: null, slotData: '7856341201ffffffff00', propertyData: '' }],
    },
  ),
  vector(
    'checkpoint-properties',
    'checkpoint',
    'properties behind the slots of a sparse and of a dense storage; an empty sparse storage',
    hex`
      00 00 00 00 0c 00 00 00   # rob: mask, 2 slots, 7 bytes of properties
      81  0a 00  0b 00
      07 00  02 01 00 00  05
      01 00 00 00 04 00 00 00   # one: 1 slot, 1 property
      34 12  78 56
      02 00 00 00 01 00 00 00   # last: nothing valid
      00`,
    {
      context: { schema: PROPERTIES },
      value: [
        { storageId: 0, mask: '81', slotData: '0a000b00', propertyData: '07000201000005' },
        { storageId: 1, mask: null, slotData: '3412', propertyData: '7856' },
        { storageId: 2, mask: '00', slotData: '', propertyData: '' },
      ],
    },
  ),
  vector('checkpoint-empty', 'checkpoint', 'a schema without storages', hex``, {
    context: { schema: schema() },
    value: [],
  }),
  vector(
    'error-checkpoint-size',
    'checkpoint',
    'a block one byte short of its two slots',
    hex`00 00 00 00 0d 00 00 00  02 02  01 00 00 00 11 00  09 00 00 00 99`,
    { context: { schema: SPARSE }, error: 'FORMAT_LENGTH' },
  ),
  vector(
    'error-checkpoint-storage',
    'checkpoint',
    'a block of a storage that is not defined',
    hex`05 00 00 00 00 00 00 00`,
    { context: { schema: SPARSE }, error: 'FORMAT_ID' },
  ),
];

const op = (action: number, storageId: number, slot: number, fieldIndex: number, value: string) => ({
  kind: 'op',
  action,
  storageId,
  slot,
  field: fieldIndex,
  value,
});
const event = (eventTypeId: number, payload: string) => ({ kind: 'event', eventTypeId, payload });
const from = (timeStartPs: string) => ({ timeStartPs, interleaved: true });

const frames = [
  vector(
    'frame-compact',
    'frames',
    'compact ops are 9 bytes: tag, action, storage u8, slot, field, value u16; all four actions',
    hex`
      c8 01  04 00                 # 200 ps later, 4 items
      02 01 ff 03 00 01 00 ff ff   # SET storage 255, slot 3, field 1 = 65,535
      02 02 00 ff ff 00 00 00 00   # CLEAR slot 65,535
      02 03 01 00 00 00 00 01 00   # ADD 1
      02 04 02 00 00 07 00 34 12   # PROP_SET property 7 = 0x1234`,
    {
      context: from('1000'),
      value: [
        {
          timePs: '1200',
          items: [
            op(1, 255, 3, 1, '65535'),
            op(2, 0, 65535, 0, '0'),
            op(3, 1, 0, 0, '1'),
            op(4, 2, 0, 7, '4660'),
          ],
        },
      ],
    },
  ),
  vector(
    'frame-wide',
    'frames',
    'one op that needs it makes all ops of its frame wide: a large value, a large storage id, a negative value',
    hex`
      00  02 00
      01 01 00 00 00 00 00 00  00 00 01 00 00 00 00 00   # 65,536
      01 01 01 00 02 00 03 00  04 00 00 00 00 00 00 00   # 4 would have fitted
      64  01 00
      01 03 00 01 00 00 00 00  01 00 00 00 00 00 00 00   # storage 256
      64  01 00
      01 03 00 00 00 00 00 00  ff ff ff ff ff ff ff ff   # -1 as u64
      64  01 00
      02 03 00 00 00 00 00 01 00                         # the next frame is compact again`,
    {
      context: from('0'),
      value: [
        { timePs: '0', items: [op(1, 0, 0, 0, '65536'), op(1, 1, 2, 3, '4')] },
        { timePs: '100', items: [op(3, 256, 0, 0, '1')] },
        { timePs: '200', items: [op(3, 0, 0, 0, '18446744073709551615')] },
        { timePs: '300', items: [op(3, 0, 0, 0, '1')] },
      ],
    },
  ),
  vector(
    'frame-event',
    'frames',
    'events with and without payload',
    hex`
      7f  02 00
      03 00 01 00  05 00 00 00  de ad be ef 07
      03 00 ff ff  00 00 00 00`,
    { context: from('0'), value: [{ timePs: '127', items: [event(1, 'deadbeef07'), event(65535, '')] }] },
  ),
  vector(
    'frame-mixed',
    'frames',
    'ops and events keep their order; events do not hinder the compact form',
    hex`
      80 01  03 00
      03 00 00 00  01 00 00 00  aa
      02 02 00 05 00 00 00 00 00
      03 00 00 00  01 00 00 00  bb`,
    {
      context: from('0'),
      value: [{ timePs: '128', items: [event(0, 'aa'), op(2, 0, 5, 0, '0'), event(0, 'bb')] }],
    },
  ),
  vector(
    'frame-empty',
    'frames',
    'frames without items count; equal times are legal',
    hex`0a 00 00  00 00 00  00 00 00`,
    {
      context: from('5'),
      value: [
        { timePs: '15', items: [] },
        { timePs: '15', items: [] },
        { timePs: '15', items: [] },
      ],
    },
  ),
  vector('frame-none', 'frames', 'a blob without frames', hex``, { context: from('5'), value: [] }),
  vector(
    'frame-time-64',
    'frames',
    'time deltas of 3, 5, 9 and 10 bytes, up to the greatest time',
    hex`
      80 80 01  00 00                        # 2^14
      80 80 80 80 10  00 00                  # 2^32
      80 80 80 80 80 80 80 80 40  00 00      # 2^62
      ff ff fe ff ef ff ff ff bf 01  00 00   # the rest to 2^64 - 1`,
    {
      context: from('0'),
      value: [
        { timePs: '16384', items: [] },
        { timePs: '4294983680', items: [] },
        { timePs: '4611686022722371584', items: [] },
        { timePs: '18446744073709551615', items: [] },
      ],
    },
  ),
  vector(
    'frame-time-redundant',
    'frames',
    'a time delta may be written longer than needed: 5 in 3 bytes',
    hex`85 80 00  00 00`,
    { context: from('0'), value: [{ timePs: '5', items: [] }], decodeOnly: true },
  ),
  vector('error-frame-tag', 'frames', 'an item of unknown tag', hex`00 01 00 04 00*15`, {
    context: from('0'),
    error: 'FORMAT_VALUE',
  }),
  vector('error-frame-action', 'frames', 'an op of unknown action', hex`00 01 00 02 05 00*7`, {
    context: from('0'),
    error: 'FORMAT_VALUE',
  }),
  vector('error-frame-time', 'frames', 'time passes 64 bits', hex`01 00 00`, {
    context: from('18446744073709551615'),
    error: 'FORMAT_VALUE',
  }),
  vector(
    'error-frame-payload',
    'frames',
    'an event payload of 4 GiB',
    hex`00 01 00 03 00 00 00 ff ff ff ff 00`,
    {
      context: from('0'),
      error: 'FORMAT_TRUNCATED',
    },
  ),
];

const old = (timeStartPs: string, allowCompact: boolean) => ({
  timeStartPs,
  interleaved: false,
  allowCompact,
});

const framesV01 = [
  vector(
    'frame-v01-wide',
    'frames',
    'v0.1: op format 0, wide ops of 16 bytes, no tags',
    hex`
      c8 01  00 00  02 00  00 00
      01 00 00 00 05 00 01 00  34 12 00 00 00 00 00 00
      02 00 2c 01 05 00 00 00  00 00 00 00 00 00 00 00`,
    {
      context: old('0', false),
      value: [{ timePs: '200', items: [op(1, 0, 5, 1, '4660'), op(2, 300, 5, 0, '0')] }],
    },
  ),
  vector(
    'frame-v01-compact',
    'frames',
    'v0.1: op format 1, compact ops of 8 bytes; a later frame that needs wide ops',
    hex`
      c8 01  01 00  02 00  00 00
      01 00 05 00 01 00 34 12
      03 ff 00 00 00 00 01 00
      00     00 00  01 00  00 00
      03 00 00 00 00 00 00 00  00 00 01 00 00 00 00 00`,
    {
      context: old('0', true),
      value: [
        { timePs: '200', items: [op(1, 0, 5, 1, '4660'), op(3, 255, 0, 0, '1')] },
        { timePs: '200', items: [op(3, 0, 0, 0, '65536')] },
      ],
    },
  ),
  vector(
    'frame-v01-mixed',
    'frames',
    'v0.1: ops first, then events; an empty frame',
    hex`
      00     01 00  01 00  02 00
      02 00 05 00 00 00 00 00
      01 00 00 00  02 00 00 00  ab cd
      00 00 00 00  00 00 00 00
      0a     01 00  00 00  00 00`,
    {
      context: old('7', true),
      value: [
        { timePs: '7', items: [op(2, 0, 5, 0, '0'), event(1, 'abcd'), event(0, '')] },
        { timePs: '17', items: [] },
      ],
    },
  ),
  vector('error-frame-v01-format', 'frames', 'v0.1: op format 2', hex`00 02 00 00 00 00 00`, {
    context: old('0', true),
    error: 'FORMAT_VALUE',
  }),
];

const SEGMENT = hex`"uSEG" 00*52`;

const records = [
  vector(
    'segment-header',
    'segment-header',
    'every field in use',
    hex`
      "uSEG" 00 00 00 00
      10 27 00 00 00 00 00 00   # from 10,000 ps
      20 4e 00 00 01 00 00 00   # to 2^32 + 20,000 ps
      88 00 00 00 00 00 00 00   # previous at 136
      1a 00 00 00               # checkpoint 26
      a1 00 00 00  0f 01 00 00  # deltas 161, raw 271
      05 00 00 00  04 00 00 00  # 5 frames, 4 active
      00 00 00 00`,
    {
      value: {
        flags: 0,
        timeStartPs: '10000',
        timeEndPs: '4294987296',
        prevSegmentOffset: '136',
        checkpointSize: 26,
        deltasCompressedSize: 161,
        deltasRawSize: 271,
        numFrames: 5,
        numFramesActive: 4,
      },
    },
  ),
  vector('error-segment-magic', 'segment-header', 'a chain that leads to something else', hex`"uREC" 00*52`, {
    error: 'FORMAT_MAGIC',
  }),
  vector(
    'error-segment-time',
    'segment-header',
    'a segment that ends before it starts',
    hex`"uSEG" 00 00 00 00 01 00*7 00*40`,
    { error: 'FORMAT_VALUE' },
  ),
  vector(
    'commit-record',
    'commit-record',
    "strings 8 and 9; crc over the segment's 56 bytes, then the record with its crc as 0",
    hex`
      "uREC" 40 00 00 00        # 64 bytes
      41 8e 12 aa               # crc
      02 00 00 00               # 2 strings
      88 00 00 00 00 00 00 00   # segment at 136
      f4 01 00 00 01 00 00 00   # next frame 2^32 + 500
      0a 00 00 00 00 00 00 00   # next string 10
      38 00 00 00 00 00 00 00   # segment size 56
      03 00 00 00 "abc"  02 00 00 00 c2 b5
      00*3`,
    {
      context: { segment: toHex(SEGMENT) },
      value: {
        size: 64,
        crc: 2853342785,
        segmentOffset: '136',
        segmentSize: 56,
        nextFrame: '4294967796',
        nextString: '10',
        strings: ['616263', 'c2b5'],
      },
    },
  ),
];

export const segmentVectors = [...checkpoints, ...frames, ...framesV01, ...records];
