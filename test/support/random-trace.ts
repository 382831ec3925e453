/** Random traces of the small core of `build-trace.ts`, and their content in words: what tools that rewrite traces must keep. */
import fc from 'fast-check';
import { Action, FieldType, type Item, type Schema } from '../../sdk/src/format/types.js';
import { memorySource, openTrace, payloadLayout, readRaw, type Trace } from '../../sdk/src/reader/index.js';
import { add, annotate, clear, coreSchema, frame, prop, set, stage, TraceBuilder } from './build-trace.js';

const value = fc.oneof(fc.nat(300), fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }));
/** Two of four strings exist in most traces: references to nothing belong to it. */
const text = fc.nat(4);
export const anyItem: fc.Arbitrary<Item> = fc.oneof(
  fc.tuple(fc.nat(11), fc.nat(2), value).map(([slot, field, v]) => set(0, slot, field, v)),
  fc.tuple(fc.nat(3), value).map(([slot, v]) => set(1, slot, 0, v)),
  fc.tuple(fc.nat(2), fc.nat(1)).map(([slot, v]) => set(2, slot, 0, v)),
  fc.nat(11).map((slot) => clear(0, slot)),
  fc.nat(2).map((slot) => clear(2, slot)),
  value.map((v) => add(3, 0, 0, v)),
  value.map((v) => prop(1, 0, v)),
  text.map((v) => prop(1, 1, v)),
  fc.nat(1).map((label) => stage(1, label)),
  fc.tuple(fc.nat(11), text).map(([slot, v]) => annotate(slot, v)),
);

export interface Step {
  readonly delta: number;
  readonly items: readonly Item[];
  /** A segment ends before it. */
  readonly cut: boolean;
}

export const anySteps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    delta: fc.constantFrom(0, 1, 250, 1000),
    items: fc.array(anyItem, { maxLength: 4 }),
    cut: fc.boolean(),
  }),
  { maxLength: 25 },
);

export interface RandomTrace {
  readonly steps: readonly Step[];
  /** The strings there are from the beginning. */
  readonly strings: readonly string[];
  /** Time of the first segment. */
  readonly start: number;
  readonly finalized: boolean;
  readonly ours: boolean;
  /** Every segment but the first begins with snapshots that empty its sparse storages. */
  readonly pauses?: boolean;
}

export const anyTrace: fc.Arbitrary<RandomTrace> = fc.record({
  steps: anySteps,
  strings: fc.array(fc.constantFrom('a', 'b', '', 'µ'), { maxLength: 5 }),
  start: fc.constantFrom(0, 0, 700),
  finalized: fc.boolean(),
  ours: fc.boolean(),
});

/** Of our writer, as one that was paused again and again: then a segment starts with its first frame. */
export const anyPausedTrace: fc.Arbitrary<RandomTrace> = anyTrace.map((trace) => ({
  ...trace,
  ours: true,
  pauses: true,
  steps: trace.steps.map((step) => ({ ...step, delta: step.delta === 1 ? 250 : step.delta })),
}));

export function bytesOf(random: RandomTrace, schema: Schema = coreSchema): Uint8Array {
  const { steps, strings, start, finalized, ours, pauses = false } = random;
  const builder = new TraceBuilder({ schema, compression: 'lz4', ...(ours ? {} : { session: null }) });
  let time = BigInt(start);
  let segment = { start: time, frames: [] as ReturnType<typeof frame>[] };
  let texts: readonly string[] | undefined = strings;
  const flush = (): void => {
    const emptied = pauses && builder.offsets.length > 0 ? [0, 2] : [];
    builder.segment({ ...segment, emptied, ...(texts ? { strings: texts } : {}) });
    texts = undefined;
  };
  for (const { delta, items, cut } of steps) {
    if (cut) {
      flush();
      segment = { start: delta % 2 ? time : time + BigInt(delta), frames: [] };
    }
    time += BigInt(delta);
    segment.frames.push(frame(time, ...items));
  }
  if (segment.frames.length > 0) flush();
  return finalized ? builder.finalize().bytes : builder.bytes;
}

export const openBytes = (bytes: Uint8Array): Promise<Trace> => openTrace(memorySource(bytes));

/** Every item of a range in words, string references by text. */
export async function wordsOf(trace: Trace, from?: bigint, to?: bigint): Promise<string[]> {
  const words: string[] = [];
  for await (const { timePs, item } of trace.items(from, to))
    words.push(`${timePs} ${await word(trace, item)}`);
  return words;
}

async function word(trace: Trace, item: Item): Promise<string> {
  const { schema, names } = trace;
  if (item.kind === 'event') {
    const { fields } = schema.events[item.eventTypeId];
    const { offsets } = payloadLayout(fields);
    const values = fields.map((field, i) =>
      inWords(trace, field.type, readRaw(item.payload, offsets[i], field.type)),
    );
    return `${names.eventNames[item.eventTypeId]} ${(await Promise.all(values)).join(' ')}`;
  }
  const { action, storageId, slot, field, value: bits } = item;
  const def = schema.storages[storageId];
  const name = names.storageNames[storageId];
  if (action === Action.CLEAR) return `${name} ${slot} clear`;
  const fieldDef = action === Action.PROP_SET ? def.properties[field] : def.fields[field];
  return `${name} ${slot} ${action} ${fieldDef.name} ${await inWords(trace, fieldDef.type, bits)}`;
}

async function inWords(trace: Trace, type: FieldType, bits: bigint): Promise<string> {
  if (type !== FieldType.STRING_REF) return String(bits);
  return `text ${(await trace.strings.get(bits)) ?? 'none'}`;
}

/** The state after `timePs` in words: every slot that counts, every property. */
export async function stateInWords(trace: Trace, timePs: bigint): Promise<string[]> {
  const state = await trace.stateAt(timePs);
  const words: string[] = [];
  for (const def of trace.schema.storages) {
    const view = state.storage(def.storageId);
    for (let slot = 0; slot < def.numSlots; slot++) {
      if (!state.slotValid(def.storageId, slot)) continue;
      for (const { name, type } of def.fields) {
        const bits = state.slotField(def.storageId, slot, name);
        words.push(`${view.name} ${slot} ${name} ${await inWords(trace, type, bits)}`);
      }
    }
    for (const { name, type } of def.properties) {
      const bits = state.property(def.storageId, name);
      words.push(`${view.name} ${name} ${await inWords(trace, type, bits)}`);
    }
  }
  return words;
}
