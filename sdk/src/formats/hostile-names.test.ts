/** Names and texts may hold anything, also what a format gives a meaning: what is exported is read again. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { TraceBuilder } from '../../../test/support/build-trace.js';
import { contextOf, MemoryFiles } from '../../../test/support/foreign.js';
import { limitOfFile, MANY_CASES_MS } from '../../../test/support/limits.js';
import { modelSchema, runModel, STAGES } from '../../../test/support/pipeline-model.js';
import type { Schema } from '../format/types.js';
import { openTraceFile } from '../reader/node.js';
import { memorySource } from '../reader/source.js';
import { FORMATS } from './registry.js';
import { VcdTrace } from './vcd/format.js';
import { HeaderCollector } from './vcd/read/header.js';

// Every format is written and read, for many names.
limitOfFile(MANY_CASES_MS);

const PIECES = [
  ...['$end', '$enddefinitions', '$var', '$dumpvars', '\\', 'x[3:0]', '[7]', '#1', 's', 'b0', '!'],
  ...[' ', '\t', '\n', '\r\n', '\u0007', '\u001b[30m', '\u007f', '\u0085', '\u00a0', '\u2028', '\u202e'],
  ...['"', "'", '`', '\\n', '\\x41', ',', ':', ';', '{', '}', '=', '/', '*/', '.', '-', '%s', '<b>', '&'],
  ...['é', '信号', '🙂', 'a', 'Z', '0', '_'],
];
const name = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 4 }).map((all) => all.join(''));

function renamed(schema: Schema, text: string): Schema {
  const named = <T extends { readonly name: string }>(one: T): T => ({ ...one, name: text + one.name });
  return {
    ...schema,
    clocks: schema.clocks.map(named),
    scopes: schema.scopes.map(named),
    enums: schema.enums.map((one) => ({ ...one, values: one.values.map(named) })),
    storages: schema.storages.map((one) => (one.name === 'entities' ? one : { ...one, name: text })),
  };
}

function built(text: string): Uint8Array {
  let state = 5;
  const { frames, strings } = runModel(
    (below) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % below;
    },
    30,
    3,
  );
  const builder = new TraceBuilder({
    schema: renamed(modelSchema({ slots: 3 }), text),
    dut: [
      ['dut_name', text],
      ['cpu.pipeline_stages', STAGES.map((stage) => text.replaceAll(',', '') + stage).join(',')],
    ],
  });
  return builder.segment({ frames, strings: strings.map((one) => text + one) }).finalize().bytes;
}

async function exported(format: string, text: string): Promise<Uint8Array[]> {
  const { FORMAT } = await FORMATS.get(format)!();
  const trace = await openTraceFile(memorySource(built(text)));
  const files = new MemoryFiles();
  await FORMAT.write!(trace, files, FORMAT.extensions[0]!, contextOf());
  return [...files.files.values()].map(({ bytes }) => bytes);
}

describe.each(['vcd', 'konata', 'ftr', 'flux', 'ctrace'])('names in %s', (format) => {
  it('are read again, whatever they hold', async () => {
    const { FORMAT } = await FORMATS.get(format)!();
    await fc.assert(
      fc.asyncProperty(name, async (text) => {
        for (const bytes of await exported(format, text)) {
          const foreign = await FORMAT.open!(memorySource(bytes), new Map());
          await foreign.info(contextOf());
          let records = 0;
          for await (const line of foreign.dump({ json: false })) records += line === '' ? 0 : 1;
          expect(records).toBeGreaterThan(20);
          expect(foreign.isPartial).toBe(false);
        }
      }),
      { numRuns: 40, examples: [['$end'], ['$enddefinitions'], ['\\'], ['\n'], ['\u0007$end']] },
    );
  });
});

it('a dump has the names of the trace, blanks apart', async () => {
  await fc.assert(
    fc.asyncProperty(name, async (text) => {
      const [bytes] = await exported('vcd', text);
      const found = new HeaderCollector().add(bytes!)?.header.signals.map(({ path }) => path) ?? [];
      const word = text.replace(/[\s\p{Cc}]/gu, '_');
      expect(found).toContain(`trace.${word}core0.${word}`);
    }),
    { numRuns: 40, examples: [['$end'], ['x[3:0]'], ['\\']] },
  );
});

it('a proposed map is YAML with the names of the waveform', async () => {
  await fc.assert(
    fc.asyncProperty(name, async (text) => {
      const word = text.replace(/[\s\p{Cc}]/gu, '_');
      const head = `$timescale 1ns $end\n$scope module \\${word} $end\n$var wire 1 ! clk $end\n$var wire 4 " state [3:0] $end\n$upscope $end\n$enddefinitions $end\n`;
      const ticks = Array.from({ length: 20 }, (_, i) => `#${i}\n${i & 1}!\nb${(i % 4).toString(2)} "\n`);
      const map = parse(await new VcdTrace(memorySource(Buffer.from(head + ticks.join('')))).guess());
      expect(map.clock).toBe(`${word}.clk`);
      for (const scope of Object.values<{ in: string }>(map.scopes)) expect(scope.in).toBe(word);
    }),
    { numRuns: 40, examples: [["a: {b}'"], ['\u202e"'], ['#1']] },
  );
});
