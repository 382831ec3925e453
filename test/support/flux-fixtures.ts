/** Traces for tests: bytes in memory, entries of every kind. */

import { MemoryOutput } from '../../sdk/src/formats/common/foreign-format.js';
import {
  Enumeration,
  type FluxEntry,
  FluxTag,
  FluxType,
  MemberType,
} from '../../sdk/src/formats/flux/types.js';
import { encodeValue, type FluxValue, logic } from '../../sdk/src/formats/flux/values.js';
import {
  type FluxTraceWriter,
  FluxWriter,
  type FluxWriterOptions,
} from '../../sdk/src/formats/flux/writer.js';

export { MemoryOutput };

export async function written(
  fill: (file: FluxWriter) => void | Promise<void>,
  options: FluxWriterOptions = {},
): Promise<Uint8Array> {
  const output = new MemoryOutput();
  const file = new FluxWriter(output, options);
  await fill(file);
  await file.close();
  return output.bytes;
}

const none = { name: '', description: '', descriptor: '' };
const item = (id: number, parent: number, name: string) => ({ ...none, id, parent, name });
const int = (value: number) => Uint8Array.of(value);

export function sample(id: number, position: bigint, value: FluxValue, conflict = false): FluxEntry {
  return { tag: FluxTag.SAMPLE, id, conflict, position, ...encodeValue(value) };
}

/** Every kind of entry and of value, of one trace that is opened as a whole. */
export function everyEntry(): FluxEntry[] {
  const types = Object.values(FluxType);
  const [event, integer, , float, text, binary, struct] = [10, 20, 30, 40, 50, 60, 70];
  const list = { dynamic: true, width: 0 };
  const members = [
    { member: 0, type: MemberType.GLOBAL_ENUM, data: int(1) },
    { member: 1, type: MemberType.INTEGER, data: int(0xfe) },
    { member: 2, type: MemberType.FLOAT, data: Uint8Array.of(0, 0, 0x10, 0x40) },
    { member: 3, type: MemberType.TEXT, data: new TextEncoder().encode('µ') },
    { member: 4, type: MemberType.BINARY, data: int(9) },
    { member: 200, type: MemberType.LOCAL_ENUM | 0x80, data: int(1) },
  ];
  return [
    { tag: FluxTag.SCPD, ...item(1, 0, 'top') },
    { tag: FluxTag.SCPD, ...item(2, 1, 'in ner/µ') },
    ...types
      .slice(1)
      .map((type): FluxEntry => ({ tag: FluxTag.SIGD, ...item(10 * type, 2, `s${type}`), type })),
    { tag: FluxTag.MSGD, ...item(200, 1, 'many'), idTo: 203, type: FluxType.INTEGER },
    { tag: FluxTag.SIRD, id: 20, parent: 1, name: 'again', description: 'a reference' },
    { tag: FluxTag.SSGD, ...item(301, 1, 'bits'), type: FluxType.LOGIC, from: 0, to: 3 },
    { tag: FluxTag.SSRD, id: 301, parent: 2, name: 'bits', description: '', from: 0, to: 3 },
    { tag: FluxTag.DOMD, domain: 'ns' },
    { tag: FluxTag.OPEN, id: 0, domain: '', start: -5n, rate: 5n },
    { tag: FluxTag.ENMD, id: event, enumeration: Enumeration.GLOBAL, label: 'on', value: 70_000n },
    ...members.map(
      ({ member, type }): FluxEntry => ({
        tag: FluxTag.MEMD,
        id: struct,
        member,
        parent: 0,
        label: `m${member}`,
        type,
        descriptor: '',
      }),
    ),
    sample(event, 0n, { kind: 'event', value: 70_000n }),
    { tag: FluxTag.ATRE, id: event, type: 1, target: 1, style: 2, delta: -12n, base: 3 },
    { tag: FluxTag.ATLA, id: event, style: 1, x: 5n, y: -1n },
    ...[0n, 127n, 128n, -128n, -129n, 2n ** 31n, -(2n ** 47n), 2n ** 63n - 1n, -(2n ** 63n)].map((value, i) =>
      sample(integer, BigInt(3 * i), { kind: 'integer', value }, i % 2 === 1),
    ),
    sample(integer, 5n + 2n ** 32n, { kind: 'none' }),
    sample(200, 5n + 2n ** 32n, { kind: 'integer', value: 2n ** 64n - 1n }),
    ...['0', '1', '0101', 'zzx0', '01-#lh'].map((states) => sample(30, 2n ** 33n, logic(states))),
    sample(301, 2n ** 33n, logic('1100')),
    sample(float, 2n ** 33n, { kind: 'float', bits: 32, value: 1.5 }),
    sample(float, 2n ** 33n, { kind: 'float', bits: 64, value: -0.1 }),
    sample(text, 2n ** 33n, { kind: 'text', value: 'héllo' }),
    sample(binary, 2n ** 33n, { kind: 'binary', value: Uint8Array.of(0, 1, 255) }),
    sample(struct, 2n ** 33n + 1n, { kind: 'struct', members }),
    sample(struct, 2n ** 33n + 1n, { kind: 'struct', members: members.slice(1, 3) }),
    sample(80, 2n ** 33n + 2n, { kind: 'events', list: { ...list, dynamic: false }, values: [0n, 5n, 300n] }),
    sample(90, 2n ** 33n + 2n, {
      kind: 'integers',
      list: { ...list, width: 2 },
      values: [0n, -1n, 2n ** 40n],
    }),
    sample(90, 2n ** 33n + 2n, { kind: 'integers', list: { ...list, width: 1 }, values: [] }),
    sample(100, 2n ** 33n + 2n, { kind: 'floats', list: { dynamic: false, width: 1 }, values: [1, 2.5] }),
    sample(110, 2n ** 33n + 2n, { kind: 'texts', list, values: ['', 'x,"y'] }),
    { tag: FluxTag.CURR, id: 0, position: 2n ** 40n },
    sample(event, 2n ** 40n + 7n, { kind: 'event', value: 0n }, true),
    { tag: FluxTag.CREQ, control: 256, message: 2, members: members.slice(1, 2) },
    { tag: FluxTag.CRES, control: 256, message: 2, members: [] },
    { tag: FluxTag.CLOS, id: 0, end: 2n ** 40n + 10n },
  ];
}

export const put = (trace: FluxTraceWriter, entries: readonly FluxEntry[]): void => {
  for (const entry of entries) trace.entry(entry);
};
