/** A trace with plain frames looks like any other one. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TraceBuilder } from '../../test/support/build-trace.js';
import { limitOfFile, PROCESSES_MS } from '../../test/support/limits.js';
import { lacks } from '../../test/support/needs.js';
import { modelSchema, PERIOD_PS, runModel } from '../../test/support/pipeline-model.js';
import { settled } from './support/page-hook.js';
import { chooser, served } from './support/served.js';
import { chromiumPath, startViewer, type Viewer } from './support/viewer.js';

// A browser is started.
limitOfFile(PROCESSES_MS);

const CYCLES = 600;

describe.skipIf(lacks('chromium', chromiumPath !== null))('a trace with plain frames', () => {
  const model = runModel(chooser(99), CYCLES);
  let viewer: Viewer;

  beforeAll(async () => {
    const builder = new TraceBuilder({ schema: modelSchema(), interleaved: false });
    const end = BigInt((CYCLES - 1) * PERIOD_PS);
    builder.segment({ frames: model.frames, end, strings: [...model.strings] });
    viewer = await startViewer(served(builder.finalize().bytes));
  });
  afterAll(() => viewer?.close());

  it('is shown', async () => {
    viewer.requests.length = 0;
    const page = await viewer.open();
    const { rows } = await settled(page);
    expect(rows).toBe(model.instructions.length);
    const third = await page.evaluate(() => window.__uscope.describe(2));
    const expected = model.instructions[2]!;
    expect(third).toMatchObject({
      id: expected.id,
      born: expected.birth,
      pc: `0x${expected.pc.toString(16)}`,
    });
    expect(viewer.complaints).toEqual([]);
  });
});
