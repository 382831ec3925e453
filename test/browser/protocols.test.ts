/** `uscope/cpu` and `uscope/noc` in a page: what the package exports under these names loads there, and reads traces. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../../examples/browser/server.mjs';
import sdk from '../../sdk/package.json' with { type: 'json' };
import { memorySource, openTrace } from '../../sdk/src/reader/index.js';
import * as noc from '../../sdk/src/semantics/noc/index.js';
import * as cpu from '../../sdk/src/semantics/public-cpu.js';
import { add, frame, TraceBuilder } from '../support/build-trace.js';
import { type Browser, chromiumPath, startChromium } from '../support/chromium.js';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { event, modelSchema, runModel, STAGES } from '../support/pipeline-model.js';

// A browser is started.
limitOfFile(PROCESSES_MS);

/** A made-up pipeline with instructions in all states. */
function traceBytes(): Uint8Array {
  let state = 5;
  const model = runModel((below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  }, 300);
  const dut = [['cpu.pipeline_stages', STAGES.join(',')]] as const;
  const builder = new TraceBuilder({ schema: modelSchema({ cores: 2 }), dut, compression: 'lz4' });
  const frames = model.frames.map(({ timePs, items }) =>
    frame(timePs, ...items, add(1, 0, 0, 1), event(9, 0)),
  );
  return builder.segment({ frames }).finalize().bytes;
}

/** Where the server of the example has what the package exports under a name. */
const urlOf = (name: './cpu' | './noc') => sdk.exports[name].default.replace('./dist/', '/sdk/');

const collect = async (bytes: Uint8Array) => {
  const trace = await openTrace(memorySource(bytes));
  const core = cpu.findCore(trace);
  let count = 0;
  let stages = 0;
  for await (const instruction of cpu.instructions(trace, core, { from: 0n, to: 200n, unit: 'cycles' })) {
    count++;
    stages += instruction.stages.length;
  }
  return { cores: cpu.findCores(trace).length, networks: noc.findNetworks(trace).length, count, stages };
};

describe.skipIf(!chromiumPath)('the protocols in a page', () => {
  const bytes = traceBytes();
  let browser: Browser;
  let directory: string;
  let site: Awaited<ReturnType<typeof startServer>>;
  let page: Page;
  const problems: string[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'uscope-protocols-'));
    const trace = join(directory, 'trace.uscope');
    await writeFile(trace, bytes);
    site = await startServer({ trace });
    browser = await startChromium();
    page = await browser.newPage();
    await page.goto(site.url);
    page.on('pageerror', (error) => problems.push(String(error)));
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
    await rm(directory, { recursive: true, force: true });
  });

  it.each([
    ['./cpu', cpu],
    ['./noc', noc],
  ] as const)('uscope%s loads, with all its names', async (name, module) => {
    const names = await page.evaluate<string[]>(`import('${urlOf(name)}').then(Object.keys)`);
    expect([...names].sort()).toEqual(Object.keys(module).sort());
  });

  it('instructions of a trace are what they are in Node', async () => {
    const expected = await collect(bytes);
    expect(expected.count).toBeGreaterThan(20);
    const found = await page.evaluate(`(async () => {
      const uscope = await import('uscope/reader');
      const cpu = await import('${urlOf('./cpu')}');
      const noc = await import('${urlOf('./noc')}');
      const trace = await uscope.openTrace(uscope.httpSource('trace.uscope'));
      const core = cpu.findCore(trace);
      let count = 0, stages = 0;
      for await (const instruction of cpu.instructions(trace, core, { from: 0n, to: 200n, unit: 'cycles' })) {
        count++;
        stages += instruction.stages.length;
      }
      return { cores: cpu.findCores(trace).length, networks: noc.findNetworks(trace).length, count, stages };
    })()`);
    expect(found).toEqual(expected);
    expect(problems).toEqual([]);
  });
});
