/** With the index the next stall and gap are those that a look at every cycle finds. */
import fc from 'fast-check';
import { memorySource, openTrace } from 'uscope/reader';
import { expect, it } from 'vitest';
import { clear, frame, type SegmentSpec, set } from '../../test/support/build-trace.js';
import { indexedTrace } from '../../test/support/indexed-trace.js';
import { event, modelSchema, PERIOD_PS } from '../../test/support/pipeline-model.js';
import { type NearestArgs, nearest } from '../src/data/questions/nearest.js';
import { Session } from '../src/data/session.js';

const STALL = 4;

/** Stretches of cycles: stalled ones, or ones in which an instruction retires each second cycle. */
const recordings = fc.record({
  stretches: fc.array(fc.record({ cycles: fc.integer({ min: 1, max: 900 }), isStalled: fc.boolean() }), {
    minLength: 2,
    maxLength: 14,
  }),
  framesPerSegment: fc.integer({ min: 50, max: 900 }),
});

type Recording = typeof recordings extends fc.Arbitrary<infer T> ? T : never;

function framesOf({ stretches }: Recording) {
  const frames = [];
  let cycle = 0;
  let isLive = false;
  for (const { cycles, isStalled } of stretches) {
    for (let at = 0; at < cycles; at++, cycle++) {
      if (isStalled) frames.push(frame(cycle * PERIOD_PS, event(STALL, 1)));
      else {
        frames.push(
          frame(cycle * PERIOD_PS, ...(isLive ? [clear(0, 3)] : [set(0, 3, 0, 3), set(0, 3, 1, cycle)])),
        );
        isLive = !isLive;
      }
    }
  }
  return frames;
}

async function sessionOf(recording: Recording): Promise<Session> {
  const frames = framesOf(recording);
  const segments: SegmentSpec[] = [];
  for (let at = 0; at < frames.length; at += recording.framesPerSegment) {
    const part = frames.slice(at, at + recording.framesPerSegment);
    segments.push({ frames: part, start: at === 0 ? 0n : part[0]!.timePs });
  }
  const { bytes } = await indexedTrace({ schema: modelSchema(), segments });
  return Session.open(await openTrace(memorySource(bytes)), 'made up', { core: null, clock: null });
}

const asked = fc.record<NearestArgs>({
  what: fc.constantFrom('stall', 'gap'),
  direction: fc.constantFrom(1, -1),
  cycle: fc.nat(6000),
  longer: fc.constantFrom(1, 40, 200, 300, 512, 600),
});

it('answers the same with the index as without', async () => {
  let found = 0;
  await fc.assert(
    fc.asyncProperty(
      recordings,
      fc.array(asked, { minLength: 4, maxLength: 8 }),
      async (recording, questions) => {
        const session = await sessionOf(recording);
        expect(session.indexNow()).not.toBeNull();
        const without = Object.create(session, { indexNow: { value: () => null } }) as Session;
        const { signal } = new AbortController();
        for (const args of questions) {
          const expected = await nearest(args, without, signal);
          expect(await nearest(args, session, signal), JSON.stringify(args)).toEqual(expected);
          if (expected) {
            found++;
            expect(expected.to - expected.from).toBeGreaterThan(args.longer);
          }
        }
      },
    ),
    { numRuns: 10 },
  );
  expect(found).toBeGreaterThan(0);
});
