/** Schema chunk (docs/reference/format.md#schema): vectors. */
import { hex } from './hex.js';
import { BOOL, CLOCK, ENUM, field, ROOT, STRING_REF, schema, U16, U32, U64, vector } from './vector.js';

const CLK = hex`00 00 00 00 e8 03 00 00              # "clk", id 0, 1000 ps`;
const SCOPE = hex`04 00 00 00 ff ff ff ff ff 00 00 00  # "/", id 0, no parent, no protocol, clock inherited`;
const MINOR_3 = { versionMinor: 3 };

const entities = {
  name: 'entities',
  storageId: 0,
  numSlots: 16,
  flags: 1,
  scopeId: 0,
  fields: [field('entity_id', U32), field('pc', U64), field('inst_bits', U32)],
  properties: [],
};

const counter = {
  name: 'committed_insns',
  storageId: 0,
  numSlots: 1,
  flags: 0,
  scopeId: 0xffff,
  fields: [field('count', U64)],
  properties: [],
};

const rob = {
  name: 'rob',
  storageId: 0,
  numSlots: 8,
  flags: 3,
  scopeId: 0,
  fields: [field('entity_id', U32), field('completed', BOOL)],
  properties: [field('alloc_ptr', U16, 0, 1, 1), field('retire_ptr', U16, 0, 2, 1), field('mode', ENUM)],
};

const ALL_TYPES = 'abcdefghi';

const structure = [
  vector(
    'schema-clocks',
    'schema',
    'three clock domains, one of unknown period',
    hex`
      00 03 01 00 00 00 00 00 00 00 30 00   # 3 clocks, 1 scope, pool at 48
      00 00 00 00 c8 00 00 00               # core_clk 200 ps
      09 00 01 00 e8 03 00 00               # bus_clk 1000 ps
      11 00 02 00 00 00 00 00               # ext, unknown
      15 00 00 00 ff ff ff ff 01 00 00 00   # "/" runs on bus_clk
      "core_clk" 00 "bus_clk" 00 "ext" 00 "/" 00`,
    {
      context: MINOR_3,
      value: schema({
        clocks: [
          { name: 'core_clk', clockId: 0, periodPs: 200 },
          { name: 'bus_clk', clockId: 1, periodPs: 1000 },
          { name: 'ext', clockId: 2, periodPs: 0 },
        ],
        scopes: [{ ...ROOT, clockId: 1 }],
      }),
    },
  ),
  vector(
    'schema-scopes',
    'schema',
    'a tree of scopes: root, a core with protocol and clock, a unit that inherits the clock and has no protocol',
    hex`
      00 01 03 00 00 00 00 00 00 00 38 00   # 1 clock, 3 scopes, pool at 56
      ${CLK} ${SCOPE}
      06 00 01 00 00 00 0c 00 00 00 00 00   # core0 in 0, protocol cpu, clock 0
      10 00 02 00 01 00 ff ff ff 00 00 00   # lsu in 1
      "clk" 00 "/" 00 "core0" 00 "cpu" 00 "lsu" 00`,
    {
      context: MINOR_3,
      value: schema({
        scopes: [
          ROOT,
          { name: 'core0', scopeId: 1, parentId: 0, protocol: 'cpu', clockId: 0 },
          { name: 'lsu', scopeId: 2, parentId: 1, protocol: null, clockId: 0xff },
        ],
      }),
    },
  ),
  vector(
    'schema-enums',
    'schema',
    'enums with dense and scattered values; a name used twice is stored once',
    hex`
      02 01 01 00 00 00 00 00 00 00 40 00   # 2 enums, pool at 64
      ${CLK} ${SCOPE}
      06 00 03 00                           # state, 3 values
      00 00 0c 00  01 00 11 00  02 00 00 00 # idle, busy, clk
      16 00 03 00                           # opcode, 3 values
      10 00 1d 00  80 00 22 00  ff 00 28 00 # load, store, fence
      "clk" 00 "/" 00 "state" 00 "idle" 00 "busy" 00 "opcode" 00 "load" 00 "store" 00 "fence" 00`,
    {
      context: MINOR_3,
      value: schema({
        enums: [
          {
            name: 'state',
            values: [
              { value: 0, name: 'idle' },
              { value: 1, name: 'busy' },
              { value: 2, name: 'clk' },
            ],
          },
          {
            name: 'opcode',
            values: [
              { value: 16, name: 'load' },
              { value: 128, name: 'store' },
              { value: 255, name: 'fence' },
            ],
          },
        ],
      }),
    },
  ),
];

const storages = [
  vector(
    'schema-storage-sparse',
    'schema',
    'a sparse storage in scope 0',
    hex`
      00 01 01 00 01 00 00 00 00 00 48 00               # 1 storage, pool at 72
      ${CLK} ${SCOPE}
      06 00 00 00 10 00 03 00 01 00 00 00 00 00 00 00   # entities, 16 slots, 3 fields, sparse, scope 0
      0f 00 03 00 00*4   19 00 04 00 00*4   1c 00 03 00 00*4
      "clk" 00 "/" 00 "entities" 00 "entity_id" 00 "pc" 00 "inst_bits" 00`,
    { context: MINOR_3, value: schema({ storages: [entities] }) },
  ),
  vector(
    'schema-storage-dense',
    'schema',
    'a counter: one dense slot with one U64 field, at root level',
    hex`
      00 01 01 00 01 00 00 00 00 00 38 00
      ${CLK} ${SCOPE}
      06 00 00 00 01 00 01 00 00 00 ff ff 00 00 00 00   # committed_insns, 1 slot, 1 field
      16 00 04 00 00*4                                  # count U64
      "clk" 00 "/" 00 "committed_insns" 00 "count" 00`,
    { context: MINOR_3, value: schema({ storages: [counter] }) },
  ),
  vector(
    'schema-storage-buffer-properties',
    'schema',
    'a sparse buffer with a pair of pointers (roles 1 and 2, pair 1) and a plain property',
    hex`
      01 01 01 00 01 00 00 00 00 00 60 00               # 1 enum, 1 storage, pool at 96
      ${CLK} ${SCOPE}
      06 00 01 00  00 00 0b 00                          # mode: normal = 0
      12 00 00 00 08 00 02 00 03 00 00 00 03 00 00 00   # rob, 8 slots, 2 fields, sparse buffer, 3 properties
      16 00 03 00 00*4                                  # entity_id U32
      20 00 09 00 00*4                                  # completed BOOL
      2a 00 02 00 01 01 00 00                           # alloc_ptr U16, head of pair 1
      34 00 02 00 02 01 00 00                           # retire_ptr U16, tail of pair 1
      06 00 0b 00 00*4                                  # mode ENUM 0
      "clk" 00 "/" 00 "mode" 00 "normal" 00 "rob" 00 "entity_id" 00 "completed" 00 "alloc_ptr" 00 "retire_ptr" 00`,
    {
      context: MINOR_3,
      value: schema({ enums: [{ name: 'mode', values: [{ value: 0, name: 'normal' }] }], storages: [rob] }),
    },
  ),
  vector(
    'schema-minor-2',
    'schema',
    'before minor version 3: storages have no properties, their headers 12 bytes, and string_pool_offset is 2 too large (54, truly 52)',
    hex`
      00 01 01 00 01 00 00 00 00 00 36 00
      ${CLK} ${SCOPE}
      06 00 00 00 01 00 01 00 00 00 ff ff
      16 00 04 00 00*4
      "clk" 00 "/" 00 "committed_insns" 00 "count" 00`,
    { context: { versionMinor: 2 }, value: schema({ storages: [counter] }), decodeOnly: true },
  ),
];

const rest = [
  vector(
    'schema-events',
    'schema',
    'events: with an enum, with a string, with every integer type, without fields',
    hex`
      01 01 01 00 00 00 04 00 00 00 b4 00   # 1 enum, 4 events, pool at 180
      ${CLK} ${SCOPE}
      06 00 02 00  00 00 0c 00  01 00 0e 00 # stage: F = 0, X = 1
      10 00 00 00 02 00 00 00               # stage_transition, 2 fields, scope 0
      21 00 03 00 00*4   06 00 0b 00 00*4   # entity_id U32, stage ENUM 0
      2b 00 01 00 02 00 00 00               # annotate
      21 00 03 00 00*4   34 00 0a 00 00*4   # entity_id U32, text STRING_REF
      39 00 02 00 09 00 ff ff               # all_types, 9 fields, root level
      43 00 01 00 00*4   45 00 02 00 00*4   47 00 03 00 00*4   49 00 04 00 00*4
      4b 00 05 00 00*4   4d 00 06 00 00*4   4f 00 07 00 00*4   51 00 08 00 00*4
      53 00 09 00 00*4
      55 00 03 00 00 00 00 00               # tick
      "clk" 00 "/" 00 "stage" 00 "F" 00 "X" 00 "stage_transition" 00 "entity_id" 00 "annotate" 00 "text" 00
      "all_types" 00 "a" 00 "b" 00 "c" 00 "d" 00 "e" 00 "f" 00 "g" 00 "h" 00 "i" 00 "tick" 00`,
    {
      context: MINOR_3,
      value: schema({
        enums: [
          {
            name: 'stage',
            values: [
              { value: 0, name: 'F' },
              { value: 1, name: 'X' },
            ],
          },
        ],
        events: [
          {
            name: 'stage_transition',
            eventTypeId: 0,
            scopeId: 0,
            fields: [field('entity_id', U32), field('stage', ENUM)],
          },
          {
            name: 'annotate',
            eventTypeId: 1,
            scopeId: 0,
            fields: [field('entity_id', U32), field('text', STRING_REF)],
          },
          {
            name: 'all_types',
            eventTypeId: 2,
            scopeId: 0xffff,
            fields: [...ALL_TYPES].map((name, index) => field(name, index + 1)),
          },
          { name: 'tick', eventTypeId: 3, scopeId: 0, fields: [] },
        ],
      }),
    },
  ),
  vector(
    'schema-summary-fields',
    'schema',
    'summary field definitions',
    hex`
      00 01 01 00 00 00 00 00 02 00 30 00
      ${CLK} ${SCOPE}
      06 00 03 00 00 00 00 00   # committed U32 in scope 0
      10 00 02 00 ff ff 00 00   # flushes U16 at root level
      "clk" 00 "/" 00 "committed" 00 "flushes" 00`,
    {
      context: MINOR_3,
      value: schema({
        summaryFields: [
          { name: 'committed', type: U32, scopeId: 0 },
          { name: 'flushes', type: U16, scopeId: 0xffff },
        ],
      }),
    },
  ),
  vector(
    'schema-utf8-names',
    'schema',
    'names are UTF-8: µs',
    hex`
      00 01 01 00 00 00 00 00 00 00 20 00
      00 00 00 00 e8 03 00 00
      04 00 00 00 ff ff ff ff ff 00 00 00
      c2 b5 73 00 "/" 00`,
    { context: MINOR_3, value: schema({ clocks: [{ ...CLOCK, name: 'µs' }] }) },
  ),
];

const broken = [
  vector(
    'error-schema-pool-offset',
    'schema',
    'string_pool_offset points outside the chunk',
    hex`00 01 01 00 00 00 00 00 00 00 ff ff ${CLK} ${SCOPE} "clk" 00 "/" 00`,
    { context: MINOR_3, error: 'FORMAT_STRING_POOL' },
  ),
  vector(
    'error-schema-unterminated',
    'schema',
    'the last text has no NUL',
    hex`00 01 01 00 00 00 00 00 00 00 20 00 ${CLK} ${SCOPE} "clk" 00 "/"`,
    { context: MINOR_3, error: 'FORMAT_STRING_POOL' },
  ),
  vector(
    'error-schema-utf8',
    'schema',
    'a name that is not UTF-8',
    hex`00 01 01 00 00 00 00 00 00 00 20 00 ${CLK} ${SCOPE} "cl" ff 00 "/" 00`,
    { context: MINOR_3, error: 'FORMAT_UTF8' },
  ),
  vector(
    'error-schema-scope-loop',
    'schema',
    "two scopes that are each other's parent",
    hex`
      00 01 03 00 00 00 00 00 00 00 38 00 ${CLK} ${SCOPE}
      00 00 01 00 02 00 ff ff ff 00 00 00
      00 00 02 00 01 00 ff ff ff 00 00 00
      "clk" 00 "/" 00`,
    { context: MINOR_3, error: 'FORMAT_VALUE' },
  ),
  vector(
    'error-schema-field-type',
    'schema',
    'a field of unknown type 0x0c',
    hex`
      00 01 01 00 00 00 01 00 00 00 30 00 ${CLK} ${SCOPE}
      00 00 00 00 01 00 00 00  00 00 0c 00 00*4
      "clk" 00 "/" 00`,
    { context: MINOR_3, error: 'FORMAT_VALUE' },
  ),
  vector(
    'error-schema-enum-id',
    'schema',
    'a field of an enum that is not defined',
    hex`
      00 01 01 00 00 00 01 00 00 00 30 00 ${CLK} ${SCOPE}
      00 00 00 00 01 00 00 00  00 00 0b 00 00*4
      "clk" 00 "/" 00`,
    { context: MINOR_3, error: 'FORMAT_ID' },
  ),
];

export const schemaVectors = [...structure, ...storages, ...rest, ...broken];
