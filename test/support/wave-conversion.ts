/** Converts a waveform by a map for tests, and reads the trace back as lines. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { FieldType } from '../../sdk/src/format/types.js';
import { FORMAT } from '../../sdk/src/formats/vcd/format.js';
import { memorySource } from '../../sdk/src/reader/index.js';
import { openTraceFile } from '../../sdk/src/reader/node.js';
import { contextOf } from './foreign.js';

export interface WaveResult {
  /** `time in ps, storage[slot].field, value`, and events with their fields. */
  readonly lines: string[];
  readonly report: string[];
  readonly warnings: string[];
  readonly periods: number[];
  readonly isPartial: boolean;
}

export async function convertWave(
  bytes: Uint8Array,
  mapText: string,
  options: Record<string, string> = {},
): Promise<WaveResult> {
  const directory = mkdtempSync(join(tmpdir(), 'uscope-wave-'));
  try {
    return await convertIn(directory, bytes, mapText, options);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function convertIn(
  directory: string,
  bytes: Uint8Array,
  mapText: string,
  options: Record<string, string>,
): Promise<WaveResult> {
  const map = join(directory, 'map.yaml');
  writeFileSync(map, mapText);
  const context = contextOf({ map, ...options });
  expect(await FORMAT.sniff?.(bytes.subarray(0, 4096))).toBe(true);
  const foreign = await FORMAT.open?.(memorySource(bytes, 'wave.vcd'), context.options);
  const path = join(directory, 'out.uscope');
  await foreign?.toUscope({ path }, context);
  const report = context.report.rows.map(({ fate, what, count }) => `${fate} ${count} ${what}`);
  const trace = await openTraceFile(path);
  const lines: string[] = [];
  let time = 0n;
  await trace.strings.load(new Set(Array.from({ length: 32 }, (_, index) => index)));
  const { storages } = trace.schema;
  await trace.scan(
    {},
    {
      frame: ({ timePs }) => {
        time = timePs;
      },
      op: ({ storageId, slot, field, value }) => {
        const { name, fields } = storages[storageId];
        const isText = fields[field].type === FieldType.STRING_REF;
        const shown = isText ? JSON.stringify(trace.strings.peek(Number(value))) : value;
        lines.push(`${time} ${name}[${slot}].${fields[field].name} ${shown}`);
      },
    },
  );
  for await (const event of trace.events())
    lines.push(
      `${event.timePs} ${event.name} ${Object.entries(event.fields()).map(([k, v]) => `${k}=${v}`)}`,
    );
  const periods = trace.schema.clocks.map(({ periodPs }) => Number(periodPs));
  await trace.close();
  return { lines, report, warnings: context.warnings, periods, isPartial: foreign?.isPartial ?? false };
}

export const valuesOf = ({ lines }: WaveResult, storage: string): string[] =>
  lines.filter((line) => line.includes(` ${storage}[`)).map((line) => line.split(' ').slice(2).join(' '));
