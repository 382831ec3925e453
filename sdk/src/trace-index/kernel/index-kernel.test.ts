/** The kernel makes the bytes that the oracle makes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { oraclePass, type PassResult } from '../../../../test/oracle/index/index-pass.js';
import { clear, frame, set, TraceBuilder } from '../../../../test/support/build-trace.js';
import { cases } from '../../../../test/support/effort.js';
import { indexOf } from '../../../../test/support/index-sums.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { anyPausedTrace, anyTrace, bytesOf } from '../../../../test/support/random-trace.js';
import { build, dut, generator, record, schemaWithBuffer } from '../../../../test/support/recorded-run.js';
import { encodeIndexContainer } from '../../format/index-container.js';
import { interleavedFrames } from '../../format/interleave.js';
import type { Item } from '../../format/types.js';
import { type LoadedSegment, memorySource, openTrace } from '../../reader/index.js';
import { parseSchema } from '../../schema/index.js';
import { type IndexPlan, indexPlan } from '../plan.js';
import { createIndexKernel } from './index-kernel.js';

// Properties of whole traces.
limitOfFile(MANY_CASES_MS);

const kernel = createIndexKernel();

/** Runs both, expects the same bytes, and goes on with the oracle's. */
function both(strangeSlots: boolean) {
  return (plan: IndexPlan, segment: LoadedSegment, carry: Uint8Array | null): PassResult => {
    const frames = interleavedFrames(segment);
    const { checkpoint, header } = segment;
    // What a list may take depends on the size of the frames.
    const result = oraclePass(plan, { ...segment, deltas: frames }, carry);
    const eventsLast = !segment.cursor().interleaved;
    const input = { checkpoint, frames, timeStartPs: header.timeStartPs, carry, strangeSlots, eventsLast };
    const made = kernel.run(plan, input);
    const expected = encodeIndexContainer({ segmentOffset: 0n, planCrc: plan.crc, parts: result.parts });
    expected.fill(0, 8, 12); // the checksum is the committer's
    expect(made?.container).toEqual(expected);
    expect(made?.carry).toEqual(result.carry);
    return result;
  };
}

describe('the kernel of the index', () => {
  it('makes what the oracle makes of pipelines', async () => {
    const shape = fc.record({
      seed: fc.integer(),
      cycles: fc.integer({ min: 1, max: 900 }),
      perSegment: fc.integer({ min: 1, max: 300 }),
      interleaved: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(shape, async ({ seed, cycles, perSegment, interleaved }) => {
        const bytes = build(record(generator(seed), cycles).frames, perSegment, interleaved);
        await indexOf(bytes, both(false));
      }),
      { numRuns: cases(5, 60) },
    );
  });

  it('makes what the oracle makes where each item is a segment', async () => {
    const frames = record(generator(3), 100).frames.flatMap(({ timePs, items }) =>
      items.map((item) => frame(timePs, item)),
    );
    const builder = new TraceBuilder({ schema: schemaWithBuffer(), dut });
    for (const one of frames) builder.segment({ frames: [one], start: one.timePs });
    await indexOf(builder.finalize().bytes, both(false));
  });

  it.each([
    ['any frames', anyTrace],
    ['snapshots', anyPausedTrace],
  ])('makes what the oracle makes of %s', async (_, traces) => {
    await fc.assert(
      fc.asyncProperty(traces, async (random) => {
        await indexOf(bytesOf(random), both(!random.ours));
      }),
      { numRuns: cases(10, 160) },
    );
  });

  it.each([
    ['of two bytes', 'u16', 'stage: stages', (id: number, at: number) => [id & 255, id >> 8, at]],
    ['of four', 'u32', 'stage: stages', (id: number, at: number) => [id & 255, id >> 8, 0, 0, at]],
    [
      'after stages of two bytes',
      'u32',
      'stage: u16',
      (id: number, at: number) => [id & 255, id >> 8, 0, 0, at, at >> 8],
    ],
    [
      'before a string',
      'u32',
      'stage: stages, text: string',
      (id: number, at: number) => [id & 255, id >> 8, 0, 0, at, 7, 0, 0, 0],
    ],
  ] as const)(
    'makes what the oracle makes where ids of stage events are %s',
    async (_, id, fields, payload) => {
      const { schema } = parseSchema(`
uscope: 1
dut: {cpu.protocol_version: "0.1", cpu.isa: RV32, cpu.pipeline_stages: "fetch,execute"}
clocks: {clk: 10}
enums: {stages: [fetch, execute, none]}
scopes:
  core0:
    protocol: cpu
    clock: clk
    storages:
      entities: {slots: 300, kind: sparse, fields: {entity_id: u32, pc: u64}}
    events:
      stage_transition: {entity_id: ${id}, ${fields}}
`);
      const enters = (entity: number, at: number): Item => ({
        kind: 'event',
        eventTypeId: 0,
        payload: Uint8Array.from(payload(entity, at)),
      });
      const frames = Array.from({ length: 600 }, (_, cycle) => {
        const [born, ends] = [cycle % 300, (cycle * 7) % 300];
        const lives = [
          set(0, born, 0, born),
          enters(born, 0),
          enters(ends, cycle % 3),
          enters(ends, 1 + (cycle & 256)),
        ];
        return frame(cycle * 10, ...lives, ...(cycle % 2 ? [clear(0, ends)] : []));
      });
      const builder = new TraceBuilder({ schema, dut: [['cpu.pipeline_stages', 'fetch,execute']] });
      for (let at = 0; at < 600; at += 150)
        builder.segment({ frames: frames.slice(at, at + 150), start: BigInt(at * 10) });
      const { results } = await indexOf(builder.finalize().bytes, both(false));
      expect(results).toHaveLength(4);
    },
  );

  it('makes what the oracle makes where what went before is not known', async () => {
    const trace = await openTrace(memorySource(build(record(generator(5), 600).frames, 100)));
    const plan = indexPlan(trace.schema, trace.dut);
    for (let index = 0; index < trace.segmentCount; index++) {
      both(false)(plan, await trace.loadSegment(index), null);
    }
  });

  it('makes nothing, or an index, of frames, checkpoints and carries that are damaged', async () => {
    const trace = await openTrace(memorySource(build(record(generator(9), 300).frames, 100)));
    const plan = indexPlan(trace.schema, trace.dut);
    const { results } = await indexOf(build(record(generator(9), 300).frames, 100));
    const { checkpoint, deltas, header } = await trace.loadSegment(1);
    const carry = results[0]!.carry;
    fc.assert(
      fc.property(fc.constantFrom(0, 1, 2), fc.nat(), fc.nat(255), fc.nat(), (which, at, byte, cut) => {
        const damaged = [checkpoint, deltas, carry].map((bytes, index) => {
          const copy = bytes.slice();
          if (index !== which || copy.length === 0) return copy;
          copy[at % copy.length] = byte;
          return cut % 3 === 0 ? copy.subarray(0, at % copy.length) : copy;
        });
        const made = kernel.run(plan, {
          checkpoint: damaged[0]!,
          frames: damaged[1]!,
          carry: damaged[2]!,
          timeStartPs: header.timeStartPs,
        });
        expect(made === null || made.container.length > 0).toBe(true);
      }),
      { numRuns: cases(100, 1200) },
    );
    // It is as before.
    const input = { checkpoint, frames: deltas, carry, timeStartPs: header.timeStartPs };
    expect(kernel.run(plan, input)?.carry).toEqual(results[1]!.carry);
  });
});
