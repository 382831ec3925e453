/** `uscope schema`: the clocks, scopes, enums, storages and events of a trace; schemas checked, and to begin with. */
import { type Command, Option } from 'commander';
import { UscopeError } from '../../base/errors.js';
import { onOneLine } from '../../base/printable.js';
import { TEMPLATES } from '../../protocols/templates.js';
import type { Trace } from '../../reader/index.js';
import { schemaToText } from '../../schema/to-text.js';
import { io, paint, printJson } from '../common/io.js';
import { printCheck } from '../common/schema-check.js';
import {
  clocksJson,
  dutJson,
  enumsJson,
  eventsJson,
  scopesJson,
  storagesJson,
  summaryFieldsJson,
} from '../common/schema-json.js';
import { withTrace } from '../common/trace-file.js';

interface SchemaOptions {
  readonly json?: boolean;
  readonly yaml?: boolean;
  readonly check?: boolean;
  readonly template?: keyof typeof TEMPLATES;
}

export function register(command: Command): void {
  command
    .description(
      'Prints the schema as a tree, as JSON, or as a schema text that writers accept. With --check says where a schema file or trace contradicts the protocols that it claims, and what cannot be shown of it (docs/reference/protocols.md). Exit status 1: it contradicts them.',
    )
    .argument('[file]', 'trace file; with --check also a schema file (.yaml, .json)')
    .option('--json', 'one JSON document')
    .addOption(new Option('--yaml', 'a schema text (docs/reference/schema.md)').conflicts('json'))
    .addOption(new Option('--check', 'compare it with the protocols that its scopes claim').conflicts('yaml'))
    .addOption(
      new Option('--template <protocol>', 'print a schema to begin with')
        .choices(Object.keys(TEMPLATES))
        .conflicts(['json', 'yaml', 'check']),
    )
    .action(printSchema);
}

async function printSchema(file: string | undefined, options: SchemaOptions): Promise<void> {
  const { check, json, template, yaml } = options;
  if ((file === undefined) !== (template !== undefined))
    throw new UscopeError('CLI_USAGE', 'give a file, or --template without one');
  if (template !== undefined) io.out(TEMPLATES[template]);
  else if (check) await printCheck(file as string, json === true);
  else
    await withTrace(file as string, async (trace) => {
      if (json) printJson(schemaJson(trace));
      else if (yaml) io.out(schemaToText(trace.schema, trace.dut));
      else printTree(trace);
    });
}

function schemaJson(trace: Trace) {
  return {
    dut: dutJson(trace),
    clocks: clocksJson(trace),
    scopes: scopesJson(trace),
    enums: enumsJson(trace),
    storages: storagesJson(trace),
    events: eventsJson(trace),
    summaryFields: summaryFieldsJson(trace),
  };
}

function printTree(trace: Trace): void {
  for (const clock of clocksJson(trace))
    print(0, 'clock', `${clock.name}, period ${clock.periodPs || 'unknown'} ps`);
  for (const { name, values } of enumsJson(trace)) {
    print(0, 'enum', `${name} {${values.map((value) => `${value.name} = ${value.value}`).join(', ')}}`);
  }
  const contents = { scopes: scopesJson(trace), storages: storagesJson(trace), events: eventsJson(trace) };
  for (const scope of contents.scopes) if (scope.parent === null) printScope(contents, scope.id, 0);
  printOwned(contents, null, 0);
}

interface Contents {
  readonly scopes: ReturnType<typeof scopesJson>;
  readonly storages: ReturnType<typeof storagesJson>;
  readonly events: ReturnType<typeof eventsJson>;
}

/** The reader has checked that scopes form a tree. */
function printScope(contents: Contents, id: number, depth: number): void {
  const { name, protocol, clock } = contents.scopes[id];
  const notes = [protocol && `protocol ${protocol}`, clock && `clock ${clock}`].filter(Boolean).join(', ');
  print(depth, 'scope', notes ? `${name} (${notes})` : name);
  printOwned(contents, id, depth + 1);
  for (const child of contents.scopes) if (child.parent === id) printScope(contents, child.id, depth + 1);
}

function printOwned({ storages, events }: Contents, scope: number | null, depth: number): void {
  for (const storage of storages.filter((candidate) => candidate.scope === scope)) {
    const kind = `${storage.sparse ? 'sparse' : 'dense'}${storage.buffer ? ' buffer' : ''}`;
    print(depth, 'storage', `${lastPart(storage.name)}[${storage.slots}] ${kind}`);
    for (const field of storage.fields) print(depth + 1, 'field', fieldText(field));
    for (const property of storage.properties) print(depth + 1, 'property', fieldText(property));
  }
  for (const event of events.filter((candidate) => candidate.scope === scope)) {
    print(depth, 'event', lastPart(event.name));
    for (const field of event.fields) print(depth + 1, 'field', fieldText(field));
  }
}

function fieldText(field: ReturnType<typeof storagesJson>[number]['fields'][number]): string {
  const wide = `${field.bits} bits${field.states === 4 ? ', four states' : ''}`;
  const type = field.bits ? wide : (field.enum ?? field.type);
  return `${field.name} ${type}${field.role ? ` (${field.role})` : ''}`;
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function print(depth: number, kind: string, text: string): void {
  io.out(`${'  '.repeat(depth)}${paint('dim', kind)} ${onOneLine(text)}\n`);
}
