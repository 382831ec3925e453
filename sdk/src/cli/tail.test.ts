import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { annotate, coreSchema, frame, stage, TraceBuilder } from '../../../test/support/build-trace.js';
import { type CliOptions, jsonLinesOf, linesOf, runUscope } from '../../../test/support/run-cli.js';
import { HEADER_SIZE } from '../format/header.js';
import { SessionStatus } from '../format/session-chunk.js';

/** A trace on disk that is written as a writer writes it: contents first, then the header. */
class GrowingFile {
  readonly builder = new TraceBuilder({ schema: coreSchema, compression: 'lz4' });
  private handle: FileHandle | null = null;

  constructor(readonly path: string) {}

  async write(): Promise<void> {
    this.handle ??= await open(this.path, 'w+');
    const { bytes } = this.builder;
    await this.handle.write(bytes, HEADER_SIZE, bytes.length - HEADER_SIZE, HEADER_SIZE);
    await this.handle.write(bytes, 0, HEADER_SIZE, 0);
  }

  /** One segment with an event of each stage at `timePs`. */
  async grow(timePs: number): Promise<void> {
    this.builder.segment({ frames: [frame(timePs, stage(1, 0), stage(2, 1))] });
    await this.write();
  }

  async close(): Promise<void> {
    await this.handle?.close();
  }
}

let directory: string;
let file: GrowingFile;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-tail-'));
  file = new GrowingFile(join(directory, 'live.uscope'));
});
afterEach(async () => {
  await file.close();
  await rm(directory, { recursive: true });
});

const quick = ['--interval', '0.005'];
const run = (args: string[], options?: CliOptions) =>
  runUscope([args[0], file.path, ...args.slice(1), ...quick], options);

/** Does the next step each time something has been printed that contains what the step waits for. */
function script(...steps: [waitFor: string, act: () => Promise<unknown>][]): CliOptions {
  const pending = [...steps];
  return {
    onFlush: (out) => {
      if (pending[0] && out.includes(pending[0][0])) void pending.shift()?.[1]();
    },
  };
}

describe('uscope tail', () => {
  it('prints the last events, then new ones, until the trace is finalized', async () => {
    await file.grow(1000);
    await file.grow(2000);
    const result = await run(
      ['tail', '-n', '3', '--json'],
      script(
        ['"t":"2000"', () => file.grow(3000)],
        [
          '"t":"3000"',
          () => {
            file.builder.segment({ frames: [frame(4000, annotate(1, 0))], strings: ['last words'] });
            file.builder.finalize();
            return file.write();
          },
        ],
      ),
    );
    expect(jsonLinesOf(result)).toEqual([
      {
        t: '1000',
        op: 'event',
        event: 'core0/stage_transition',
        fields: { entity_id: '2', stage: 'execute' },
      },
      { t: '2000', op: 'event', event: 'core0/stage_transition', fields: { entity_id: '1', stage: 'fetch' } },
      {
        t: '2000',
        op: 'event',
        event: 'core0/stage_transition',
        fields: { entity_id: '2', stage: 'execute' },
      },
      { t: '3000', op: 'event', event: 'core0/stage_transition', fields: { entity_id: '1', stage: 'fetch' } },
      {
        t: '3000',
        op: 'event',
        event: 'core0/stage_transition',
        fields: { entity_id: '2', stage: 'execute' },
      },
      { t: '4000', op: 'event', event: 'core0/annotate', fields: { entity_id: '1', text: 'last words' } },
    ]);
    expect([result.status, result.err]).toEqual([
      0,
      `uscope: the trace is finalized at 4000 ps; session closed (${file.path})\n`,
    ]);
  });

  it('shows a segment once, also where the next one begins in the same instant', async () => {
    await file.grow(1000);
    const again = async () => {
      file.builder.segment({ frames: [frame(1001, stage(5, 0))], start: 1001n, end: 1001n });
      await file.write();
    };
    const result = await run(
      ['tail', '--json'],
      script(
        ['"1000"', again],
        [
          '"entity_id":"5"',
          async () => {
            file.builder.segment({ frames: [frame(1001, stage(6, 0))], start: 1001n });
            await file.write();
          },
        ],
        [
          '"entity_id":"6"',
          () => {
            file.builder.finalize();
            return file.write();
          },
        ],
      ),
    );
    const ids = jsonLinesOf(result).map(
      (item) => (item as { fields: { entity_id: string } }).fields.entity_id,
    );
    expect(ids).toEqual(['1', '2', '5', '6']);
  });

  it('takes the filters of events', async () => {
    await file.grow(1000);
    const result = await run(
      ['tail', '--event', 'stage_transition', '--where', 'stage=execute'],
      script(
        ['1000', () => file.grow(2000)],
        [
          '2000',
          () => {
            file.builder.finalize();
            return file.write();
          },
        ],
      ),
    );
    expect(linesOf(result)).toEqual(
      ['1000', '2000'].map(
        (t) => `${t} ps  cycle ${Number(t) / 1000}  event  core0/stage_transition entity_id=2 stage=execute`,
      ),
    );
  });

  it('with a range begins at its start and ends when the trace has passed its end', async () => {
    await file.grow(1000);
    await file.grow(2000);
    const result = await run(
      ['tail', '--cycles', '2:4', '--where', 'stage=fetch'],
      script(['2000', () => file.grow(3000)], ['3000', () => file.grow(5000)]),
    );
    expect(linesOf(result).map((line) => line.slice(0, 4))).toEqual(['2000', '3000']);
    expect([result.status, result.err]).toEqual([
      0,
      `uscope: stopped at the end of the range; the trace continues (${file.path})\n`,
    ]);
  });

  it('stops after a number of events', async () => {
    await file.grow(1000);
    const result = await run(['tail', '-n', '0', '--limit', '3'], {
      ...script(['', () => file.grow(2000)], ['2000', () => file.grow(3000)]),
    });
    expect(linesOf(result).map((line) => line.slice(0, 4))).toEqual(['2000', '2000', '3000']);
    expect(result.status).toBe(0);
  });

  it('says that a trace lost something: status 3', async () => {
    await file.grow(1000);
    file.builder.finalize({ session: { lost: 4n, status: SessionStatus.CLIENT_LOST } });
    await file.write();
    expect(await run(['tail'])).toMatchObject({
      status: 3,
      err: `uscope: the trace is finalized at 1000 ps; session client lost, lost 4, rejected 0 (${file.path})\n`,
    });
  });

  it('stops when nothing new comes: status 1', async () => {
    await file.grow(1000);
    const result = await run(['tail', '--timeout', '0.05']);
    expect([result.status, linesOf(result).length]).toEqual([1, 2]);
    expect(result.err).toMatch(/nothing new for 0.05 s and the trace is not finalized/);
  });

  it('waits for the file when told so', async () => {
    const coming = run(['tail', '--wait']);
    await new Promise((resolve) => setTimeout(resolve, 30));
    file.builder.segment({ frames: [frame(1000, stage(1, 0))] }).finalize();
    await file.write();
    expect(linesOf(await coming)).toHaveLength(1);
  });

  it('does not wait for ever, and not without being told', async () => {
    expect((await run(['tail'])).err).toMatch(/READER_OPEN/);
    expect(await run(['tail', '--wait', '--timeout', '0.02'])).toMatchObject({
      status: 1,
      err: expect.stringMatching(/READER_OPEN: the file did not come within 0.02 s/),
    });
  });

  it('leaves the processor alone between two looks', async () => {
    await file.grow(1000);
    await runUscope(['tail', file.path, '--timeout', '0.05']); // what it needs is loaded and compiled now
    const [before, start] = [process.cpuUsage(), performance.now()];
    await runUscope(['tail', file.path, '--interval', '0.1', '--timeout', '1']);
    const { user, system } = process.cpuUsage(before);
    const elapsedMs = performance.now() - start; // a second, or more where other programs have the processor
    expect((user + system) / 1e3).toBeLessThan(elapsedMs / 2);
  });

  it.each([[['--interval', '0']], [['--timeout', 'soon']], [['-n', 'all']], [['--where', 'stage']]])(
    '%j is wrong usage',
    async (args) => {
      await file.grow(1000);
      expect(await runUscope(['tail', file.path, ...args])).toMatchObject({ status: 2, out: '' });
    },
  );
});

describe('uscope info --watch', () => {
  it('prints a line whenever the trace has grown, and how it ended', async () => {
    await file.grow(1000);
    const result = await run(
      ['info', '--watch', '--json'],
      script(
        ['"segments":1', () => file.grow(2000)],
        [
          '"segments":2',
          () => {
            file.builder.finalize();
            return file.write();
          },
        ],
      ),
    );
    expect(jsonLinesOf(result)).toMatchObject([
      { totalTimePs: '1001', segments: 1, complete: false, session: { status: 'open' } },
      { totalTimePs: '2001', segments: 2, complete: false, session: { status: 'open' } },
      { totalTimePs: '2000', segments: 2, complete: true, session: { status: 'closed' } },
    ]);
    expect([result.status, result.err]).toEqual([
      0,
      expect.stringMatching(/finalized at 2000 ps; session closed/),
    ]);
  });

  it('in text comes after what info prints', async () => {
    await file.grow(1000);
    const result = await run(['info', '--watch', '--timeout', '0.03']);
    expect(linesOf(result)[0]).toMatch(/^file /);
    expect(linesOf(result).at(-1)).toBe('1001 ps, cycle 1 core_clk, 1 segments, not finalized');
    expect(result.status).toBe(1);
  });

  it('on a terminal draws one line again and again', async () => {
    await file.grow(1000);
    const drawn: string[] = [];
    const finish = async () => {
      file.builder.finalize();
      await file.write();
    };
    const result = await run(['info', '--watch'], {
      ...script(['not finalized', finish]),
      bar: { columns: 40, sharesStdout: true, write: (text) => drawn.push(text), onOutput: () => undefined },
    });
    expect(drawn[0]).toBe('\r\x1b[K1001 ps, cycle 1 core_clk, 1 segments, ');
    expect(linesOf(result).at(-1)).toBe('1000 ps, cycle 1 core_clk, 1 segments, complete');
  });
});
