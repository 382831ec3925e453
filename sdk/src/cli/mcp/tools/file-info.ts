/** Tool file_info: what traces there are, and what is in one of them. */
import { compressionOf } from '../../../format/header.js';
import { type FieldDef, FieldType } from '../../../format/types.js';
import type { Trace } from '../../../reader/index.js';
import { findCores } from '../../../semantics/cpu/index.js';
import { scopesJson, statusName, storagesJson, typeName } from '../../common/schema-json.js';
import { shownName } from '../../common/trace-file.js';
import { ending, offsetOf, page, shortLists } from './answer.js';
import { cursor, file, limit } from './arguments.js';
import { defineTool } from './tool.js';

const MAX_CORES = 64;
const MAX_LABELS = 100;

export const fileInfoTool = defineTool({
  name: 'file_info',
  title: 'What a trace is',
  description:
    'Lists the traces served and describes one of them: length, clocks and cycles, whether it is complete, cores with their pipeline stages, storages (state) with fields, events with fields, enum labels. Call this first.',
  input: { file, limit: limit(200, 1000), cursor },
  async run(args, { files }) {
    const list = files.files.map((one) => ({ name: one.name, file: shownName(one.file) }));
    if (args.file === undefined && files.files.length > 1) return { files: list };
    return files.use(args.file, async (trace, { name }) => {
      const offset = offsetOf(args.cursor);
      const { shown, next } = page(definitions(trace), offset, args.limit);
      return {
        ...(offset === 0 ? { files: list, name, ...header(trace) } : { name }),
        ...grouped(shown),
        ...ending(next),
      };
    });
  },
});

function header(trace: Trace) {
  const { session, schema } = trace;
  return {
    version: trace.version,
    compression: compressionOf(trace.header.flags),
    complete: trace.isComplete,
    session: session && {
      status: statusName(session),
      lost: session.lost,
      rejected: session.rejected,
    },
    endPs: trace.totalTimePs,
    segments: trace.segmentCount,
    clocks: schema.clocks.map(({ name, periodPs }) => ({
      name,
      periodPs: periodPs,
      lastCycle: periodPs > 0 ? trace.totalTimePs / BigInt(periodPs) : null,
    })),
    cores: shortLists(
      findCores(trace)
        .slice(0, MAX_CORES)
        .map((core) => ({
          core: core.name,
          clock: core.clock?.name ?? null,
          isa: core.isa ?? null,
          stages: core.stages,
          recordsInstructions: core.entities !== null,
        })),
    ),
    warnings: trace.warnings.map(({ message }) => message),
  };
}

type Definition = readonly [list: 'dut' | 'scopes' | 'storages' | 'events' | 'enums', value: unknown];

/** Everything whose number a trace may choose, in one list that can be cut anywhere. */
function definitions(trace: Trace): Definition[] {
  const { schema, names } = trace;
  const fields = (defs: readonly FieldDef[]): string[] => defs.map((field) => fieldText(trace, field));
  return [
    ...trace.dut.map(([key, value]): Definition => ['dut', `${key} = ${value}`]),
    ...scopesJson(trace)
      .filter(({ path }) => path)
      .map(({ path, protocol, clock }): Definition => ['scopes', { path, protocol, clock }]),
    ...storagesJson(trace).map(({ id, name, slots, sparse, buffer }): Definition => {
      const { fields: own, properties } = schema.storages[id];
      const kind = `${sparse ? 'sparse' : 'dense'}${buffer ? ' buffer' : ''}`;
      return [
        'storages',
        { storage: name, slots, kind, fields: fields(own), properties: fields(properties) },
      ];
    }),
    ...schema.events.map(
      (event): Definition => [
        'events',
        { event: names.eventNames[event.eventTypeId], fields: fields(event.fields) },
      ],
    ),
    ...schema.enums.map(
      ({ name, values }): Definition => [
        'enums',
        shortLists({ enum: name, labels: values.map((one) => one.name) }, MAX_LABELS),
      ],
    ),
  ];
}

/** `stage enum pipeline_stage`. */
function fieldText({ schema }: Trace, field: FieldDef): string {
  const name = `${field.name} ${typeName(field)}`;
  return field.type === FieldType.ENUM ? `${name} ${schema.enums[field.enumId]?.name ?? ''}`.trim() : name;
}

function grouped(definitions: readonly Definition[]): Record<string, unknown[]> {
  const groups: Record<string, unknown[]> = {};
  for (const [list, value] of definitions) {
    groups[list] ??= [];
    groups[list].push(value);
  }
  return groups;
}
