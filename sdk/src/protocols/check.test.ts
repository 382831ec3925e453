/** Schemas that contradict the protocols they claim, with the exact texts; and that every schema of the repository contradicts none. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../../scripts/step.mjs';
import { parseSchema, parseUnboundSchema } from '../schema/index.js';
import { findCores } from '../semantics/cpu/cores.js';
import { findNetworks } from '../semantics/noc/networks.js';
import { checkProtocol, findingText, isContradiction } from './index.js';
import { TEMPLATES } from './templates.js';

const ENUMS = 'enums: {stage: [fetch, execute], reason: [mispredict]}';
const ENTITIES = 'entities: {slots: 8, kind: sparse, fields: {entity_id: u32, pc: u64, inst_bits: u32}}';
const STAGE = 'stage_transition: {entity_id: u32, stage: stage}';
const FLUSH = 'flush: {entity_id: u32, reason: reason}';
const STORE = 'transactions: {slots: 8, kind: sparse, fields: {txn_id: u32, opcode: reason, addr: u64}}';

function schemaOf(
  protocol: string,
  storages: readonly string[],
  events: readonly string[],
  dut = '',
): string {
  const block = (key: string, lines: readonly string[]) =>
    lines.length > 0 ? `    ${key}:\n${lines.map((line) => `      ${line}\n`).join('')}` : '';
  return `uscope: 1\n${dut}clocks: {clk: 1 ns}\n${ENUMS}\nscopes:\n  core0:\n    protocol: ${protocol}\n    clock: clk\n${block('storages', storages)}${block('events', events)}`;
}

function findings(text: string): string[] {
  const { schema, dut } = parseSchema(text);
  return checkProtocol(schema, dut).map(findingText);
}

const core = (events: readonly string[], storages: readonly string[] = [ENTITIES]) =>
  schemaOf('cpu', storages, [STAGE, FLUSH, ...events]);

const WRONG: readonly (readonly [what: string, schema: string, texts: readonly string[]])[] = [
  [
    'no instructions',
    schemaOf('cpu', ['cycles: counter'], [STAGE, FLUSH]),
    [
      'PROTOCOL_MISSING: core0 is "cpu" and lacks the storage "entities": no instruction can be followed: no pipeline, no latencies, no program profile',
    ],
  ],
  [
    'no stages',
    schemaOf('cpu', [ENTITIES], [FLUSH]),
    [
      'PROTOCOL_MISSING: core0 is "cpu" and lacks the event "stage_transition": no pipeline can be shown, and no time by stage',
    ],
  ],
  [
    'no flushes',
    schemaOf('cpu', [ENTITIES], [STAGE]),
    ['PROTOCOL_MISSING: core0 is "cpu" and lacks the event "flush": squashed instructions count as retired'],
  ],
  [
    'instructions without an address',
    core([], ['entities: {slots: 8, kind: sparse, fields: {entity_id: u32, inst_bits: u32}}']),
    [
      'PROTOCOL_MISSING: the storage "core0/entities" lacks the field "pc": instructions have no address, and no profile by pc or function',
    ],
  ],
  [
    'a dense catalog',
    core([], [ENTITIES.replace('sparse', 'dense')]),
    [
      'PROTOCOL_TYPE: the storage "core0/entities" is not sparse, so it is not read: no instruction can be followed: no pipeline, no latencies, no program profile',
    ],
  ],
  [
    'an address that is a text',
    core([], [ENTITIES.replace('pc: u64', 'pc: string')]),
    [
      'PROTOCOL_TYPE: the field "pc" of the storage "core0/entities" is string, and the protocol "cpu" has u64, so the field is not read: instructions have no address, and no profile by pc or function',
    ],
  ],
  [
    'an address with a sign',
    core([], [ENTITIES.replace('pc: u64', 'pc: i64')]),
    [
      'PROTOCOL_TYPE: the field "pc" of the storage "core0/entities" is i64, and the protocol "cpu" has u64; some values have no meaning there',
    ],
  ],
  [
    'an id wider than 32 bits',
    schemaOf('cpu', [ENTITIES], [STAGE.replace('u32', 'u64'), FLUSH]),
    [
      'PROTOCOL_TYPE: the field "entity_id" of the event "core0/stage_transition" is u64, and the protocol "cpu" has u32; some values have no meaning there',
    ],
  ],
  [
    'a flush that names no instruction',
    schemaOf('cpu', [ENTITIES], [STAGE, 'flush: {reason: reason}']),
    [
      'PROTOCOL_FIELD: the event "core0/flush" lacks the field "entity_id", so it is not read: squashed instructions count as retired',
    ],
  ],
  [
    'a stage that is a text',
    schemaOf('cpu', [ENTITIES], ['stage_transition: {entity_id: u32, stage: string}', FLUSH]),
    [
      'PROTOCOL_TYPE: the field "stage" of the event "core0/stage_transition" is string, and the protocol "cpu" has an enum, so the event is not read: no pipeline can be shown, and no time by stage',
    ],
  ],
  [
    'an annotation that is a number',
    core(['annotate: {entity_id: u32, text: u32}']),
    [
      'PROTOCOL_TYPE: the field "text" of the event "core0/annotate" is u32, and the protocol "cpu" has string, so the event is not read: instructions that are not RISC-V have no text',
    ],
  ],
  [
    'a dependency with other names',
    core(['dependency: {producer: u32, consumer: u32}']),
    [
      'PROTOCOL_FIELD: the event "core0/dependency" lacks the fields "src_id" and "dst_id", so it is not read: no arrows between instructions, and no chain of what waited for what',
    ],
  ],
  [
    'a counter of 32 bits',
    core([], [ENTITIES, 'committed_insns: {slots: 1, kind: dense, fields: {count: u32}}']),
    [
      'PROTOCOL_TYPE: the storage "core0/committed_insns" is not a counter (one slot with one field u64), so tools do not take it for one',
    ],
  ],
  [
    'a buffer whose id is a text',
    core([], [ENTITIES, 'rob: {slots: 8, kind: buffer, fields: {entity_id: string}}']),
    [
      'PROTOCOL_TYPE: the field "entity_id" of the storage "core0/rob" is string, and the protocol "cpu" has u32, so the storage is not read: no occupancy, and no structure shows where an instruction waits',
    ],
  ],
  [
    'a store without a mask',
    core(['mem_write: {entity_id: u32, addr: u64, data: u64}']),
    [
      'PROTOCOL_FIELD: the event "core0/mem_write" lacks the field "mask", so it is not read: `doctor` cannot judge stores, and `diff --by retired` cannot compare them',
    ],
  ],
  [
    'a mistyped event',
    schemaOf('cpu', [ENTITIES], ['stage_transitions: {entity_id: u32, stage: stage}', FLUSH]),
    [
      'PROTOCOL_MISSING: core0 is "cpu" and lacks the event "stage_transition": no pipeline can be shown, and no time by stage',
      'PROTOCOL_UNKNOWN: the event "core0/stage_transitions" means nothing to the protocol "cpu". Did you mean "stage_transition"?',
    ],
  ],
  [
    'a reserved name with another shape',
    core(['wakeup: {entity_id: u32}']),
    [
      'PROTOCOL_FIELD: the event "core0/wakeup" lacks the field "by": the name "wakeup" is kept for an event with the fields entity_id, by',
    ],
  ],
  [
    'a mistyped protocol',
    schemaOf('cpuu', [ENTITIES], []),
    [
      'PROTOCOL_UNKNOWN: core0 has the protocol "cpuu", which no tool knows. Did you mean "cpu"? A name of your own has a prefix, such as vendor.cpuu',
    ],
  ],
  [
    'a protocol that nobody knows',
    schemaOf('dma', [], ['move: {}']),
    [
      'PROTOCOL_UNKNOWN: core0 has the protocol "dma", which no tool knows. A name of your own has a prefix, such as vendor.dma',
    ],
  ],
  [
    'a mistyped property',
    schemaOf('cpu', [ENTITIES], [STAGE, FLUSH], 'dut: {cpu.pipeline_stage: "fetch,execute"}\n'),
    [
      'PROTOCOL_UNKNOWN: the property "cpu.pipeline_stage" means nothing to any tool. Did you mean "cpu.pipeline_stages"?',
    ],
  ],
  [
    'a network whose transactions are dense',
    schemaOf('noc', [STORE.replace('sparse', 'dense')], ['stage_transition: {txn_id: u32, stage: stage}']),
    [
      'PROTOCOL_TYPE: the storage "core0/transactions" is not sparse, so it is not read: no transaction can be followed: no rows, no latencies',
    ],
  ],
  [
    'a retry that names no transaction',
    schemaOf(
      'noc.router',
      [STORE],
      ['stage_transition: {txn_id: u32, stage: stage}', 'retry: {reason: reason}'],
    ),
    [
      'PROTOCOL_FIELD: the event "core0/retry" lacks the field "txn_id", so it is not read: retries are not counted',
    ],
  ],
  [
    'reasons and handoffs that are texts, under names of their own',
    schemaOf(
      'noc',
      [STORE],
      [
        'stage_transition: {txn_id: u32, stage: stage}',
        'retry: {txn_id: u32, why: string}',
        'txn_handoff: {here: u32, there: string}',
      ],
    ),
    [
      'PROTOCOL_TYPE: the field "why" of the event "core0/retry" is string, and the protocol "noc" has an enum, so the field is not read: retries have no reason',
      'PROTOCOL_TYPE: the field "there" of the event "core0/txn_handoff" is string, and the protocol "noc" has u32, so the event is not read: a transaction cannot be followed from one scope to the next',
    ],
  ],
  [
    'a handoff to nobody',
    schemaOf('noc', [STORE], ['stage_transition: {txn_id: u32, stage: stage}', 'txn_handoff: {from: u32}']),
    [
      'PROTOCOL_FIELD: the event "core0/txn_handoff" lacks the field "to", so it is not read: a transaction cannot be followed from one scope to the next',
    ],
  ],
  [
    'transactions whose begin has another order',
    TEMPLATES.tr.replace(
      '{tx: u64, stream: u64, generator: u64, t: u64}',
      '{stream: u64, tx: u64, generator: u64, t: u64}',
    ),
    [
      'PROTOCOL_FIELD: the event "tr/begin" has not exactly the fields tx u64, stream u64, generator u64, t u64, so it is not read: no transactions can be shown',
    ],
  ],
  [
    'transactions without relations',
    TEMPLATES.tr.replace(/^ *rel: .*\n/m, ''),
    ['PROTOCOL_MISSING: tr is "tr" and lacks the event "rel": transactions have no relations'],
  ],
];

describe('checkProtocol says of', () => {
  it.each(WRONG)('%s', (_, text, expected) => {
    expect(findings(text)).toEqual(expected);
  });

  it('a schema of thousands of scopes at most a hundred things', () => {
    const scopes = Array.from({ length: 2000 }, (_, n) => `  s${n}: {protocol: cpu, clock: clk}\n`).join('');
    const { schema } = parseSchema(`uscope: 1\nclocks: {clk: 1 ns}\nscopes:\n${scopes}`);
    expect(checkProtocol(schema)).toHaveLength(100);
  });
});

describe('what a schema contradicts is not shown as if it were known', () => {
  const described = (text: string) => {
    const { schema, dut } = parseSchema(text);
    const properties = new Map(dut);
    return {
      schema,
      clockOf: () => schema.clocks[0],
      dutProperty: (key: string) => properties.get(key),
    };
  };
  const coreOf = (text: string) => findCores(described(text))[0]!;

  it('events that lack what they need, and fields that are texts', () => {
    const { events } = coreOf(
      core([
        'annotate: {entity_id: u32, text: u32}',
        'dependency: {dst_id: u32}',
        'trap: {entity_id: u32, cause: string}',
      ]),
    );
    expect([...events.keys()].sort()).toEqual(['flush', 'stage_transition', 'trap']);
    expect([...events.get('trap')!.fields.keys()]).toEqual(['entity_id']);
  });

  it('catalogs, buffers and fields of other kinds', () => {
    expect(coreOf(core([], [ENTITIES.replace('sparse', 'dense')])).entities).toBeNull();
    expect(coreOf(core([], [ENTITIES.replace('pc: u64', 'pc: string')])).entities).toMatchObject({
      pcField: -1,
    });
    const buffers = [
      'a: {slots: 8, kind: buffer, fields: {entity_id: string}}',
      'b: {slots: 8, kind: buffer, fields: {entity_id: u8}}',
    ];
    expect(coreOf(core([], [ENTITIES, ...buffers])).buffers.map(({ name }) => name)).toEqual(['b']);
  });

  it('in a network, too', () => {
    const text = schemaOf(
      'noc',
      [STORE.replace('addr: u64', 'addr: string')],
      ['retry: {reason: reason}', 'timeout: {txn_id: u32}', 'beat: {txn_id: u32, n: string}'],
    );
    const [network] = findNetworks(described(text) as never);
    expect([...network!.events.keys()]).toEqual(['beat', 'timeout']);
    expect([...network!.events.get('beat')!.fields.keys()]).toEqual(['txn_id']);
    expect(network!.transactions).toMatchObject({ addrField: -1, idField: 0 });
  });
});

describe('contradicts no protocol:', () => {
  const files = execFileSync('git', ['ls-files', '*.yaml', '*.yml'], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '' && !path.endsWith('_bad.yaml'))
    .filter((path) => /^uscope: 1/m.test(readFileSync(join(ROOT, path), 'utf8')));

  it('the repository has schemas', () => {
    expect(files.length).toBeGreaterThan(20);
  });

  /** Traces of the first release keep what its schemas said. */
  const OLD = [
    'the event "core${core}/dependency" lacks the fields "src_id" and "dst_id"',
    'the event "noc0/beat" lacks the field "txn_id"',
  ];

  it.each(files)('%s', (path) => {
    const { schema, dut } = parseUnboundSchema(readFileSync(join(ROOT, path), 'utf8'), { file: path });
    const found = checkProtocol(schema, dut).filter(isContradiction);
    const expected = /^test\/compatibility\/.*\/cores\.yaml$/.test(path) ? OLD : [];
    expect(found.map(({ detail }) => detail.split(',')[0])).toEqual(expected);
  });

  it.each(Object.keys(TEMPLATES) as (keyof typeof TEMPLATES)[])(
    'the template of %s, of which nothing is missing',
    (name) => {
      expect(findings(TEMPLATES[name])).toEqual([]);
    },
  );

  it.each(['cpu', 'noc'] as const)('the template of %s with all of its lines', (name) => {
    const whole = TEMPLATES[name].replace(/^ {6}# (\w+: \{)/gm, '      $1');
    expect(whole).not.toBe(TEMPLATES[name]);
    expect(findings(whole)).toEqual([]);
  });
});
