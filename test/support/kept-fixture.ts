/** A trace with a mark for everything that a conversion can keep or lose, and what a trace or a file says, as text in which marks are searched. */

import { Action, FieldType } from '../../sdk/src/format/types.js';
import type { ForeignTrace } from '../../sdk/src/formats/common/foreign-format.js';
import type { Trace } from '../../sdk/src/reader/index.js';
import { parseSchema } from '../../sdk/src/schema/index.js';
import { TraceWriter } from '../../sdk/src/writer/index.js';
import { contextOf } from './foreign.js';

const SCHEMA = `
uscope: 1
dut: {dut_name: marked, cpu.protocol_version: "0.1", cpu.isa: RV64I, cpu.pipeline_stages: "fetching,executing", serial: dut-mark}
clocks: {clk: 1000 ps}
enums:
  pipeline_stage: [fetching, executing]
  dep_type: [raw, war, waw, structural]
  flush_reason: [mispredict, reason_mark]
  stall_reason: [none, stall_mark]
  mood: {calm: 0, mood_mark: 7}
scopes:
  core0:
    protocol: cpu
    clock: clk
    storages:
      entities: {slots: 4, kind: sparse, fields: {entity_id: u32, pc: u64, inst_bits: u32, colour: u32}}
      window: {slots: 2, kind: buffer, fields: {entity_id: u32, load: u32}, properties: {level: u32}}
      table_mark: {slots: 2, kind: dense, fields: {value: u32}}
      line: {slots: 1, kind: dense, fields: {data: {bits: 128}}}
      hits: counter
      committed_insns: counter
    events:
      stage_transition: {entity_id: u32, stage: pipeline_stage}
      dependency: {src_id: u32, dst_id: u32, dep_type: dep_type}
      annotate: {entity_id: u32, text: string}
      flush: {entity_id: u32, reason: flush_reason}
      stall: {reason: stall_reason}
      trap: {entity_id: u32, cause: u64, tval: u64, target: u64}
      sample: {n: u32, text: string, mood: mood}
`;

/** A wide value, and its lowest piece: a format has the one or the other. */
const WIDE_LOW = 0xfeed_face_cafe_beefn;
const WIDE = (5n << 64n) | WIDE_LOW;

/** One of several numbers, in decimal or in hexadecimal. */
function anyOf(...values: readonly bigint[]): RegExp {
  const hexadecimal = values.map((value) => value.toString(16)).join('|');
  return new RegExp(`(?<![0-9])(${values.join('|')})(?![0-9])|(?<![1-9a-f])0*(${hexadecimal})(?![0-9a-f])`);
}

/** What each row of "of a µScope trace" looks for. A number is found in decimal and in hexadecimal. */
export const MARKS: Readonly<Record<string, bigint | string | RegExp>> = {
  'addresses of instructions that retire': 0x5ca1ab1e00n,
  'addresses of squashed instructions': 0x5ca1ab1f00n,
  'machine code': 0x00b50533n,
  'other fields of instructions': 918_273n,
  'names of stages': 'executing',
  'times of stages': /@77000\b/,
  dependencies: /dependency|\bwar\b|flow/,
  annotations: 'remark_mark',
  'reasons of flushes': 'reason_mark',
  'stalls of the core': 'stall_mark',
  'causes of traps': 8_765_431n,
  counters: 424_242n,
  'contents of buffers': 38_210_766n,
  'contents of other storages': 13_579_246n,
  'names of other storages': 'table_mark',
  'properties of storages': 97_531_864n,
  'fields wider than 64 bits': anyOf(WIDE, WIDE_LOW),
  'other events': 86_420_135n,
  'strings of other events': 'string_mark',
  'names of enum values': 'mood_mark',
  'properties of the design': 'dut-mark',
};

export async function markedTrace(path: string): Promise<void> {
  const trace = await TraceWriter.create({ path, ...parseSchema(SCHEMA) });
  const at = (cycle: number, fill: () => void): void => {
    trace.beginCycle(cycle * 1000);
    fill();
    trace.endCycle();
  };
  const birth = (id: number, pc: bigint): void => {
    trace.slotSet('core0/entities', id, 'entity_id', id);
    trace.slotSet('core0/entities', id, 'pc', pc);
    trace.slotSet('core0/entities', id, 'inst_bits', 0x00b5_0533);
    trace.slotSet('core0/entities', id, 'colour', 918_273);
    trace.event('core0/stage_transition', { entity_id: id, stage: 'fetching' });
  };
  at(70, () => birth(0, 0x5c_a1ab_1dfcn));
  at(72, () => {
    birth(1, 0x5c_a1ab_1e00n);
    trace.event('core0/annotate', { entity_id: 1, text: 'remark_mark' });
    trace.event('core0/stall', { reason: 'stall_mark' });
  });
  at(75, () => {
    birth(2, 0x5c_a1ab_1f00n);
    trace.slotSet('core0/window', 1, 'entity_id', 1);
    trace.slotSet('core0/window', 1, 'load', 38_210_766);
    trace.propSet('core0/window', 'level', 97_531_864);
    trace.slotSet('core0/table_mark', 1, 'value', 13_579_246);
    trace.slotSet('core0/line', 0, 'data.bits128.0', WIDE_LOW);
    trace.slotSet('core0/line', 0, 'data.bits128.1', WIDE >> 64n);
    trace.slotSet('core0/hits', 0, 'count', 424_242n);
    trace.event('core0/sample', { n: 86_420_135, text: 'string_mark', mood: 'mood_mark' });
  });
  at(77, () => {
    trace.event('core0/stage_transition', { entity_id: 1, stage: 'executing' });
    trace.event('core0/dependency', { src_id: 0, dst_id: 1, dep_type: 'war' });
    trace.event('core0/trap', { entity_id: 1, cause: 8_765_431n, tval: 3n, target: 0x5c_a1ab_2000n });
  });
  at(80, () => {
    trace.event('core0/flush', { entity_id: 2, reason: 'reason_mark' });
    trace.slotClear('core0/entities', 2);
  });
  at(81, () => {
    trace.slotClear('core0/entities', 0);
    trace.slotClear('core0/window', 1);
    trace.slotAdd('core0/committed_insns', 0, 'count', 1);
  });
  at(83, () => {
    trace.slotClear('core0/entities', 1);
    trace.slotAdd('core0/committed_insns', 0, 'count', 1);
  });
  await trace.close();
}

/** Design properties, times, operations and events. */
export async function traceText(trace: Trace): Promise<string> {
  const lines = trace.dut.map(([key, value]) => `${key}=${value}`);
  const { schema } = trace;
  const strings = await Promise.all(
    Array.from({ length: await trace.strings.count() }, (_, index) => trace.strings.get(index)),
  );
  await trace.scan(
    {},
    {
      frame: ({ timePs }) => void lines.push(`@${timePs}`),
      op: ({ storageId, slot, action, field, value }) => {
        const { name, fields } = schema.storages[storageId];
        const isString = action === Action.SET && fields[field]?.type === FieldType.STRING_REF;
        lines.push(`${name}[${slot}] ${isString ? strings[Number(value)] : value}`);
      },
    },
  );
  for await (const event of trace.events()) {
    const words = [event.name];
    for (const { name, type, enumId } of event.def.fields) {
      const value = event.field(name)!;
      const labels = type === FieldType.ENUM ? schema.enums[enumId].values : [];
      const label = labels.find((one) => BigInt(one.value) === value)?.name;
      words.push(`${name}=${type === FieldType.STRING_REF ? strings[Number(value)] : (label ?? value)}`);
    }
    lines.push(words.join(' '));
  }
  return lines.join('\n');
}

/** All that `info` and `dump` print of a file. */
export async function fileText(file: ForeignTrace): Promise<string> {
  const lines = [file.description];
  for (const { title, rows } of await file.info(contextOf())) {
    lines.push(title, ...rows.map(([key, value]) => `${key}: ${value}`));
  }
  for await (const line of file.dump({ json: false })) lines.push(line);
  return lines.join('\n');
}

/** Strings and numbers of a protobuf file, nested ones too. */
export function protobufText(bytes: Uint8Array): string {
  const words: string[] = [];
  collect(bytes, words);
  return words.join('\n');
}

function collect(bytes: Uint8Array, words: string[]): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const varint = (): bigint | null => {
    let value = 0n;
    for (let shift = 0n; at < bytes.length && shift < 64n; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
    return null;
  };
  const found: string[] = [];
  while (at < bytes.length) {
    const tag = varint();
    if (tag === null) return false;
    const [field, wire] = [Number(tag >> 3n), Number(tag & 7n)];
    if (wire === 0) {
      const value = varint();
      if (value === null) return false;
      found.push(field === 8 ? `@${value}000` : String(value));
    } else if (wire === 1 && at + 8 <= bytes.length) {
      found.push(field === 47 || field === 48 ? 'flow' : String(view.getBigUint64(at, true)));
      at += 8;
    } else if (wire === 2) {
      const size = Number(varint() ?? -1n);
      if (size < 0 || at + size > bytes.length) return false;
      const inner = bytes.subarray(at, at + size);
      found.push(new TextDecoder().decode(inner));
      collect(inner, found);
      at += size;
    } else return false;
  }
  words.push(...found);
  return true;
}

/** Values of vectors as numbers, and `@time`. */
export function vcdText(text: string): string {
  return text.replace(/^#/gm, '@').replace(/^b([01]+) /gm, (_, bits: string) => `${BigInt(`0b${bits}`)} `);
}

export function has(text: string, mark: bigint | string | RegExp): boolean {
  if (typeof mark === 'string') return text.includes(mark);
  if (mark instanceof RegExp) return mark.test(text);
  return anyOf(mark).test(text);
}
