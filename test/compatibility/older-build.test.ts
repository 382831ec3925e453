/** A build from before traces had an index reads, verifies, recovers and resumes the files of today. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fileSource, nodeCodec, openTraceFile } from '../../sdk/src/reader/node.js';
import { verifyTrace } from '../../sdk/src/tools/verify/index.js';
import { openIndex } from '../../sdk/src/trace-index/index.js';
import { RecordWriter } from '../../sdk/src/writer/record-writer.js';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { lacks } from '../support/needs.js';
import { anySteps, CLOSED, push, records, ringOptions } from '../support/ring-traces.js';
import { listTrace } from './listing.mjs';
import { hasCommit, OlderBuild } from './older-build.js';

// The older build is made first, and each question to it is a process.
limitOfFile(PROCESSES_MS);

/** The last one whose readers know nothing of an index. */
const BEFORE_INDEX = 'b702c145096a496879a2052197d56af7ee627748';

describe.skipIf(lacks('the history of the repository', hasCommit(BEFORE_INDEX)))(
  'a build before the index',
  () => {
    let directory: string;
    let older: OlderBuild;
    const at = (name: string): string => join(directory, name);

    beforeAll(async () => {
      directory = mkdtempSync(join(tmpdir(), 'uscope-older-'));
      older = await OlderBuild.of(BEFORE_INDEX, directory);
      await write();
    });
    afterAll(() => rmSync(directory, { recursive: true, force: true }));

    /** closed.uscope, killed.uscope as it was in the middle of it, and torn.uscope, which is cut within its last segment. */
    async function write(): Promise<void> {
      const steps = fc
        .sample(fc.array(anySteps, { minLength: 4, maxLength: 4 }), { seed: 23, numRuns: 1 })[0]!
        .flat();
      const writer = await RecordWriter.create(ringOptions(at('closed.uscope')));
      const half = Math.floor(steps.length / 2);
      push(writer, records(steps, 0, half));
      await writer.flush();
      copyFileSync(at('closed.uscope'), at('killed.uscope'));
      push(writer, records(steps, half, steps.length));
      await writer.close(CLOSED);
      writeFileSync(at('torn.uscope'), readFileSync(at('killed.uscope')).subarray(0, -40));
    }

    async function today(name: string) {
      const trace = await openTraceFile(at(name));
      const index = await openIndex(trace);
      const listing = await listTrace(trace);
      await trace.close();
      return { listing, origin: index?.origin ?? null };
    }

    async function errorsOf(name: string) {
      const source = await fileSource(at(name));
      const { findings } = await verifyTrace(source, { codec: nodeCodec });
      await source.close?.();
      return seriousOf(findings);
    }

    /** References to no string are part of the random traces. */
    const seriousOf = (findings: readonly { severity: string; detail: string }[]) =>
      findings.filter(({ severity, detail }) => severity === 'error' && !detail.includes('names string'));

    it.each(['closed', 'killed'])('reads %s.uscope: the same items, states and summary', async (name) => {
      const { listing, origin } = await today(`${name}.uscope`);
      expect(origin).toBe('trace');
      expect(listing.frames.length).toBeGreaterThan(20);
      expect(await older.run('list', at(`${name}.uscope`))).toEqual({ listing, warnings: [] });
    });

    it.each(['closed', 'killed'])('finds no error in %s.uscope', async (name) => {
      expect(seriousOf(await older.run('verify', at(`${name}.uscope`)))).toEqual([]);
    });

    it('recovers torn.uscope', async () => {
      const { listing: whole } = await today('killed.uscope');
      rmSync(at('recovered.uscope'), { force: true });
      const { listing } = await older.run('recover', at('torn.uscope'), at('recovered.uscope'));
      expect(listing.frames.length).toBeGreaterThan(whole.frames.length / 2);
      expect(listing.frames).toEqual(whole.frames.slice(0, listing.frames.length));
      expect(await errorsOf('recovered.uscope')).toEqual([]);
    });

    it('resumes killed.uscope, and today reads what it has made of it', async () => {
      copyFileSync(at('killed.uscope'), at('resumed.uscope'));
      const { listing: before } = await today('killed.uscope');
      const { listing } = await older.run('resume', at('resumed.uscope'));
      expect(listing.frames.slice(0, -1)).toEqual(before.frames);
      expect((await today('resumed.uscope')).listing).toEqual(listing);
      expect(await errorsOf('resumed.uscope')).toEqual([]);
    });
  },
);
