/** `uscope view` as a process: it serves until Ctrl-C, says where, and refuses what is no trace. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TraceBuilder } from '../support/build-trace.js';
import { modelSchema, runModel } from '../support/pipeline-model.js';
import { BIN, buildSdk, Running } from '../support/processes.js';
import { startRangeServer } from '../support/range-server.js';
import { runUscope } from '../support/run-cli.js';

let directory: string;
let file: string;
const { frames, strings } = runModel((below) => below >> 1, 50);
const bytes = new TraceBuilder({ schema: modelSchema() }).segment({ frames, strings }).finalize().bytes;

beforeAll(() => {
  buildSdk();
  directory = mkdtempSync(join(tmpdir(), 'uscope-view-'));
  file = join(directory, 'core0.uscope');
  writeFileSync(file, bytes);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Starts it, waits for its address, and hands that over; ends it with a signal. */
async function whileViewing(
  args: readonly string[],
  use: (url: string) => Promise<void>,
  signal: NodeJS.Signals = 'SIGINT',
) {
  const running = new Running(process.execPath, [BIN, 'view', '--no-open', ...args], { cwd: directory });
  try {
    await running.printed('ssh -L');
    await use(running.stdout.trim());
  } finally {
    running.kill(signal);
  }
  return running.ended;
}

describe('uscope view', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    'serves page and trace on the loopback until %s',
    async (signal) => {
      const { status, stdout, stderr } = await whileViewing(
        ['core0.uscope', '--at', '20'],
        async (url) => {
          expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#at=20$/);
          expect(await (await fetch(url)).text()).toContain('content="core0.uscope"');
          const trace = await fetch(new URL('trace.uscope', url), { headers: { range: 'bytes=8-15' } });
          expect(Buffer.from(await trace.arrayBuffer()).equals(bytes.subarray(8, 16))).toBe(true);
        },
        signal,
      );
      expect(status).toBe(0);
      const { port } = new URL(stdout.trim());
      expect(stderr).toContain(`ssh -L ${port}:127.0.0.1:${port} `);
    },
  );

  it('serves a trace of a web server, whose page it need not be', async () => {
    const server = await startRangeServer(bytes);
    try {
      await whileViewing([server.url], async (url) => {
        const answer = await fetch(new URL('trace.uscope', url));
        expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
      });
    } finally {
      await server.close();
    }
  });

  it('writes the page and the trace for another server', async () => {
    const out = join(directory, 'out');
    const { status, out: printed } = await runUscope(['view', '--export', out, file]);
    expect(status).toBe(0);
    expect(
      printed
        .trim()
        .split('\n')
        .map((line) => line.slice(out.length + 1))
        .sort(),
    ).toEqual(readdirSync(out).sort());
    expect(readFileSync(join(out, 'core0.uscope')).equals(bytes)).toBe(true);
    expect(readFileSync(join(out, 'index.html'), 'utf8')).toContain(
      'name="uscope-trace" content="core0.uscope"',
    );
  });

  it('refuses what is no trace, and what is not there', async () => {
    const other = join(directory, 'log.txt');
    writeFileSync(other, 'Kanata\t0004\n'.repeat(50));
    for (const [name, code] of [
      [other, 'FORMAT_MAGIC'],
      [join(directory, 'none'), 'READER_OPEN'],
    ] as const) {
      const { status, err } = await runUscope(['view', '--no-open', name]);
      expect([status, err]).toEqual([1, expect.stringContaining(code)]);
    }
  });

  it.each([
    [['view']],
    [['view', 'x', '--port', '70000']],
    [['view', 'x', '--at', '-1']],
    [['view', 'x', '--at', 'soon']],
  ])('refuses %j as wrong usage', async (args) => {
    const { status, err } = await runUscope(args);
    expect([status, err]).toEqual([2, expect.stringContaining('CLI_USAGE')]);
  });
});
