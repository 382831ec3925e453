/** `uscope state`: the storages at one time. */
import type { Command } from 'commander';
import { UscopeError } from '../../base/errors.js';
import type { LogicalField } from '../../format/wide-fields.js';
import { isStringRef, type StorageView, type Trace, type TraceState } from '../../reader/index.js';
import { io, paint } from '../common/io.js';
import { append } from '../common/option-values.js';
import { parseCycle, parseTime } from '../common/times.js';
import { withTrace } from '../common/trace-file.js';
import { halves, ValueFormat } from '../common/values.js';
import { fieldsWithWide, wideValueText } from '../common/wide-ops.js';

interface StateOptions {
  readonly at?: string;
  readonly cycle?: string;
  readonly storage: readonly string[];
  readonly json?: boolean;
}

export function register(command: Command): void {
  command
    .description(
      'Prints the state after all frames at or before a time: valid slots of sparse storages, occupied slots of buffers, all slots of others.',
    )
    .argument('<file>', 'trace file')
    .option('--at <time>', 'time: 4000 (ps), 4ns, 1.5us, …')
    .option('--cycle <[clock:]n>', 'the time at which cycle n begins')
    .option('--storage <name>', 'only this storage (may be repeated)', append, [])
    .option('--json', 'one JSON document')
    .action((file: string, options: StateOptions) => {
      if ((options.at === undefined) === (options.cycle === undefined)) {
        throw new UscopeError('CLI_USAGE', 'give either --at TIME or --cycle [CLOCK:]N');
      }
      const at = options.at === undefined ? undefined : parseTime(options.at);
      return withTrace(file, async (trace) => {
        const time = at ?? parseCycle(options.cycle!, trace);
        if (time > trace.totalTimePs) {
          io.err(`uscope: note: the trace ends at ${trace.totalTimePs} ps; this is its last state (${file})`);
        }
        const defs = options.storage.length
          ? options.storage.map((name) => trace.names.storage(name))
          : trace.schema.storages;
        const state = await trace.stateAt(time);
        const views = defs.map((def) => state.storage(def.storageId));
        await print(trace, state, views, Boolean(options.json));
      });
    });
}

async function print(
  trace: Trace,
  state: TraceState,
  views: readonly StorageView[],
  asJson: boolean,
): Promise<void> {
  if (asJson) io.out(`{\n  "t": "${state.timePs}",\n  "storages": [`);
  else io.out(`${paint('dim', `state at ${state.timePs} ps`)}\n`);
  for (const [index, view] of views.entries()) {
    await loadStrings(trace, view);
    const storage = new StorageFormat(trace, state, view);
    if (asJson) storage.printJson(index === 0);
    else storage.printText();
  }
  if (asJson) io.out('\n  ]\n}\n');
}

async function loadStrings(trace: Trace, view: StorageView): Promise<void> {
  const fields = view.def.fields.flatMap((field, index) => (isStringRef(field) ? [index] : []));
  const properties = view.def.properties.flatMap((field, index) => (isStringRef(field) ? [index] : []));
  const wanted = new Set(properties.map((index) => Number(view.property(index))));
  if (fields.length > 0) {
    for (const slot of view.slots()) for (const index of fields) wanted.add(Number(view.field(slot, index)));
  }
  await trace.strings.load(wanted);
}

/** One storage, printed slot by slot: states may be large. */
class StorageFormat {
  private readonly fields: readonly ValueFormat[];
  private readonly properties: readonly ValueFormat[];
  private readonly logical: readonly LogicalField[] | null;

  constructor(
    trace: Trace,
    private readonly state: TraceState,
    private readonly view: StorageView,
  ) {
    const { schema, strings } = trace;
    this.fields = view.def.fields.map((field) => new ValueFormat(field, schema, strings));
    this.logical = fieldsWithWide(view.def.fields);
    this.properties = view.def.properties.map((field) => new ValueFormat(field, schema, strings));
  }

  printJson(isFirst: boolean): void {
    const { name, occupancy, def } = this.view;
    const properties = this.properties.map((format, i) => member(format, format.json(...this.property(i))));
    io.out(`${isFirst ? '' : ','}\n    {"storage": ${JSON.stringify(name)}, "numSlots": ${def.numSlots}, `);
    io.out(`"occupancy": ${occupancy}, "properties": {${properties.join(', ')}}, "slots": [`);
    let separator = '';
    for (const slot of this.view.slots()) {
      const fields = this.slotFields(slot, true);
      io.out(`${separator}\n      {"slot": ${slot}, "fields": {${fields.join(', ')}}}`);
      separator = ',';
    }
    io.out(separator ? '\n    ]}' : ']}');
  }

  printText(): void {
    const { name, occupancy, def } = this.view;
    io.out(`${paint('cyan', name)}  ${occupancy}/${def.numSlots}\n`);
    this.properties.forEach((format, i) => {
      io.out(`  .${format.name} = ${format.text(...this.property(i))}\n`);
    });
    for (const slot of this.view.slots()) {
      const fields = this.slotFields(slot, false);
      io.out(`  [${slot}] ${fields.join(' ')}\n`);
    }
  }

  /** `"name": value`, or `name=value`; of a wide field its one value. */
  private slotFields(slot: number, asJson: boolean): string[] {
    const one = (index: number): string => {
      const format = this.fields[index];
      const at = this.field(slot, index);
      return asJson ? member(format, format.json(...at)) : `${format.name}=${format.text(...at)}`;
    };
    if (!this.logical) return this.fields.map((_, index) => one(index));
    const { storageId } = this.view.def;
    return this.logical.map((field) => {
      if (field.bits === 0) return one(field.pieces[0]);
      const value = wideValueText(field, (index) => this.state.raw.value(storageId, slot, index));
      return asJson ? `${JSON.stringify(field.name)}: "${value}"` : `${field.name}=${value}`;
    });
  }

  private field(slot: number, index: number): [lo: number, hi: number] {
    return halves(this.state.raw.value(this.view.def.storageId, slot, index));
  }

  private property(index: number): [lo: number, hi: number] {
    return halves(this.state.raw.property(this.view.def.storageId, index));
  }
}

function member(format: ValueFormat, json: string): string {
  return `${JSON.stringify(format.field.name)}: ${json}`;
}
