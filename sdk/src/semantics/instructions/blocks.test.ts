/** Blocks of instructions hold what `instructions` gives, each instruction once, in arrays that move between workers. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frame, set, TraceBuilder } from '../../../../test/support/build-trace.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { event, modelSchema, PERIOD_PS, runModel, u32 } from '../../../../test/support/pipeline-model.js';
import type { Frame } from '../../format/types.js';
import { memorySource, openTrace, type Trace } from '../../reader/index.js';
import {
  birthTick,
  endTick,
  type InstructionBlock,
  rowNumber,
  stageCount,
  stageOf,
  stageTick,
  transferList,
} from '../blocks/block.js';
import { blockOf, instructionBlocks } from '../blocks/instruction-blocks.js';
import { findCore, type Instruction } from '../cpu/index.js';
import { InstructionsOfBlock } from './from-block.js';
import { instructions } from './instructions.js';

// Hundreds of cases are tried, which a busy machine takes long for.
limitOfFile(MANY_CASES_MS);

function build(frames: readonly Frame[], strings: readonly string[], every: number): Promise<Trace> {
  const builder = new TraceBuilder({ schema: modelSchema() });
  for (let at = 0; at < Math.max(frames.length, 1); at += every) {
    const end = frames[at + every]?.timePs;
    builder.segment({
      frames: frames.slice(at, at + every),
      ...(end === undefined ? {} : { end }),
      strings: at === 0 ? strings : [],
    });
  }
  return openTrace(memorySource(builder.finalize().bytes));
}

const models = fc
  .record({
    seed: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
    cycles: fc.integer({ min: 1, max: 120 }),
    every: fc.integer({ min: 1, max: 40 }),
  })
  .map(({ seed, cycles, every }) => {
    let state = seed;
    const choose = (below: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % below;
    };
    return { model: runModel(choose, cycles), every };
  });

async function rowsOf(trace: Trace, block: InstructionBlock): Promise<Instruction[]> {
  const rows = new InstructionsOfBlock(trace, findCore(trace), block);
  await rows.load();
  return Array.from({ length: block.count }, (_, row) => rows.at(row));
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const far = { lookback: 200, lookahead: 200 };

describe('blocks of segments', () => {
  it('hold every instruction once, with the life that instructions() gives it', async () => {
    await fc.assert(
      fc.asyncProperty(models, async ({ model, every }) => {
        const trace = await build(model.frames, model.strings, every);
        const core = findCore(trace);
        const whole = await collect(instructions(trace, core));
        const walked = await collect(instructionBlocks(trace, core));
        expect((await Promise.all(walked.map((block) => rowsOf(trace, block)))).flat()).toEqual(whole);
        const segments = Array.from({ length: trace.segmentCount }, (_, segment) => segment);
        const rows = await Promise.all(
          segments.map(async (segment) => rowsOf(trace, await blockOf(trace, core, segment, far))),
        );
        expect(rows.flat()).toEqual(whole);
        const starts = (await trace.segments()).map(({ timeStartPs }) => timeStartPs);
        rows.forEach((some, segment) => {
          for (const { birthPs } of some) expect(birthPs).toBeGreaterThanOrEqual(starts[segment]!);
        });
      }),
      { numRuns: 40 },
    );
  });

  it('are read row by row in ticks, and move between workers as one buffer', async () => {
    const at = (cycle: number): number => cycle * PERIOD_PS;
    const trace = await build(
      [
        frame(at(10), set(0, 3, 0, 3), set(0, 3, 1, 0x1000), event(0, ...u32(3), 0)),
        frame(at(12), event(0, ...u32(3), 1)),
        frame(at(400), event(0, ...u32(3), 2), set(0, 4, 0, 4)),
      ],
      [],
      9,
    );
    const block = await blockOf(trace, findCore(trace), 0);
    expect(block).toMatchObject({ count: 2, firstRow: 0, numbers: null, tickPs: PERIOD_PS, baseTick: 10 });
    const stages = Array.from({ length: stageCount(block, 0) }, (_, i) => [
      stageOf(block, 0, i),
      stageTick(block, 0, i),
    ]);
    expect(stages).toEqual([
      [0, 0],
      [1, 2],
      [2, 390],
    ]);
    expect([0, 1].map((row) => [rowNumber(block, row), birthTick(block, row), endTick(block, row)])).toEqual([
      [0, 0, -1],
      [1, 390, -1],
    ]);
    const expected = await rowsOf(trace, block);
    const moved = structuredClone(block, { transfer: transferList(block) });
    expect(block.flags).toHaveLength(0);
    expect(await rowsOf(trace, moved)).toEqual(expected);
  });

  it('are missed with a code where there is no such segment', async () => {
    const trace = await build([frame(0, set(0, 1, 0, 1))], [], 9);
    await expect(blockOf(trace, findCore(trace), 1)).rejects.toMatchObject({ code: 'READER_RANGE' });
  });

  it('end with the reason of their signal', async () => {
    const trace = await build([frame(0, set(0, 1, 0, 1))], [], 9);
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(blockOf(trace, findCore(trace), 0, { signal })).rejects.toThrow('enough');
    const range = { from: 0, to: 9 };
    await expect(collect(instructionBlocks(trace, findCore(trace), range, { signal }))).rejects.toThrow(
      'enough',
    );
  });
});
