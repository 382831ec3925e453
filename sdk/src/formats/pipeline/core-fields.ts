/** Values of a core's events at a cursor, by name. */
import type { FrameCursor } from '../../format/frame.js';
import { fieldSize } from '../../format/types.js';
import { CPU, type EventContract, membersOf, ownFirst } from '../../protocols/index.js';
import { readRaw, type Trace } from '../../reader/index.js';
import { describeEvent, type ProtocolEvent } from '../../semantics/common/describe.js';
import type { CpuCore } from '../../semantics/cpu/index.js';
import { disassemble } from '../../semantics/cpu/riscv/disassemble.js';
import type { Xlen } from '../../semantics/cpu/riscv/encodings.js';

const CONTRACTS: Readonly<Record<string, EventContract | undefined>> = CPU.events;

/** The events of a core by name, those included that the conventions do not know. */
export function eventsOf(trace: Trace, core: CpuCore): ReadonlyMap<string, ProtocolEvent> {
  const { schema } = trace;
  const events = ownFirst(schema.events, membersOf(schema, core.scopeId), core.scopeId);
  const found = new Map<string, ProtocolEvent>();
  for (const { name } of events) {
    const event = found.has(name) ? null : describeEvent(schema, events, name, CONTRACTS[name]);
    if (event) found.set(name, event);
  }
  return found;
}

/** Null: the event has no such field. */
export function wideOf(cursor: FrameCursor, event: ProtocolEvent, name: string): bigint | null {
  const field = event.fields.get(name);
  return field ? readRaw(cursor.bytes, cursor.payloadOffset + field.offset, field.type) : null;
}

/** Where a field is in the payload of its event. */
export interface FieldPlace {
  readonly offset: number;
  readonly size: number;
}

/** Null: the event has no such field. */
export function placeOf(event: ProtocolEvent, name: string): FieldPlace | null {
  const field = event.fields.get(name);
  return field ? { offset: field.offset, size: fieldSize(field.type) } : null;
}

/** -1: the event has no such field. What is above 2^53 is rounded. */
export function numberIn({ bytes, payloadOffset }: FrameCursor, place: FieldPlace | null): number {
  if (place === null) return -1;
  let value = 0;
  const at = payloadOffset + place.offset;
  for (let index = place.size - 1; index >= 0; index--) value = value * 256 + bytes[at + index];
  return value;
}

/** The same by name, for fields of which there are few. */
export function numberOf(cursor: FrameCursor, event: ProtocolEvent, name: string): number {
  return numberIn(cursor, placeOf(event, name));
}

/** Label of an enum's value, or the number; '' where the event has no such field. */
export function labelAt(cursor: FrameCursor, event: ProtocolEvent, name: string): string {
  const field = event.fields.get(name);
  if (!field) return '';
  const value = numberOf(cursor, event, name);
  return field.labels?.values.find((candidate) => candidate.value === value)?.name ?? String(value);
}

// How an instruction is shown: its address, a colon, its disassembly.

/** `80000000`: no prefix, at least as wide as addresses of its register width usually are. */
export function pcText(pc: bigint, xlen: Xlen | null): string {
  return pc.toString(16).padStart(xlen === 64 && pc > 0xffff_ffffn ? 16 : 8, '0');
}

/** Disassembled where the instruction set is known, else the bits. */
export function bitsText(bits: number, pc: bigint | null, xlen: Xlen | null): string {
  if (xlen === null) return `0x${(bits >>> 0).toString(16).padStart(8, '0')}`;
  return disassemble(bits, { xlen, ...(pc === null ? {} : { pc }) });
}

// Short names of stages, for viewers in which a cycle has a fixed width.

const MAX_LETTERS = 3;

/**
 * At most three letters each, all different: the shortest beginnings that tell the names apart, the first letter a capital. Names of three letters or
 * fewer stay as they are where they can; those that three letters do not tell apart get a number (`S1`, `S2`).
 */
export function shortStageNames(names: readonly string[]): string[] {
  const taken = new Set(names.filter((name) => name.length <= MAX_LETTERS));
  return names.map((name) => (name.length <= MAX_LETTERS ? name : shortened(name, names, taken)));
}

function shortened(name: string, names: readonly string[], taken: Set<string>): string {
  for (let length = 1; length <= MAX_LETTERS; length++) {
    const start = name.slice(0, length);
    const isShared = names.some((other) => other !== name && other.startsWith(start));
    if (!isShared && claim(capital(start), taken)) return capital(start);
  }
  for (let number = 1; ; number++) {
    const numbered = `${capital(name.slice(0, 1))}${number}`;
    if (claim(numbered, taken)) return numbered;
  }
}

function claim(name: string, taken: Set<string>): boolean {
  if (taken.has(name)) return false;
  taken.add(name);
  return true;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
