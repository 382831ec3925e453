/** `uscope view` as a process: it serves until Ctrl-C, says where, and refuses what is not a trace. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TraceBuilder } from '../support/build-trace.js';
import { enter } from '../support/enter-view.mjs';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { modelSchema, runModel } from '../support/pipeline-model.js';
import { BIN, buildSdk, Running } from '../support/processes.js';
import { startRangeServer } from '../support/range-server.js';
import { runUscope } from '../support/run-cli.js';

// Commands are started, which serve pages.
limitOfFile(PROCESSES_MS);

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

const start = (args: readonly string[]): Running =>
  new Running(process.execPath, [BIN, 'view', '--no-open', ...args], {
    cwd: directory,
    env: { XDG_CACHE_HOME: join(directory, 'cache') },
  });

/** Fetches what is below the page. */
type Get = (target?: string, headers?: Record<string, string>) => Promise<Response>;

/** With the address that it prints, as a script does it. */
async function entered(running: Running): Promise<Get> {
  await running.printed('ssh -L');
  const { url, headers } = await enter(running.stdout.trim());
  return (target = '', more = {}) => fetch(new URL(target, url), { headers: { ...headers, ...more } });
}

/** Starts it, waits for its address, enters, and hands over what fetches; ends it with a signal. */
async function whileViewing(
  args: readonly string[],
  use: (get: Get, address: string) => Promise<void>,
  signal: NodeJS.Signals = 'SIGINT',
) {
  const running = start(args);
  try {
    await use(await entered(running), running.stdout.trim());
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
        async (get, address) => {
          expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{12}\/\?code=[\w-]{32}$/);
          // Its code is used by now.
          expect((await fetch(address)).headers.get('refresh')).toMatch(/^0; url=\/[\w-]{12}\/#at=20$/);
          expect((await fetch(new URL('.', address))).status).toBe(403);
          expect(await (await get()).text()).toContain('content="core0.uscope"');
          const trace = await get('trace.uscope', { range: 'bytes=8-15' });
          expect(Buffer.from(await trace.arrayBuffer()).equals(bytes.subarray(8, 16))).toBe(true);
        },
        signal,
      );
      expect(status).toBe(0);
      const { port } = new URL(stdout.trim());
      expect(stderr).toContain(`ssh -L ${port}:127.0.0.1:${port} `);
    },
  );

  it('lets everybody look with --no-token, which it says, and takes no question then', async () => {
    const running = start(['core0.uscope', '--no-token', '--at', '20']);
    try {
      await running.printed('every user of this machine may look');
      const address = running.stdout.trim();
      expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#at=20$/);
      const page = await (await fetch(address)).text();
      expect(page).toContain('content="core0.uscope"');
      expect(page).not.toContain('uscope-sql');
      const source = new URL('trace.uscope', address).href;
      expect((await runUscope(['info', source])).status).toBe(0);
      expect((await fetch(new URL('sql', address), { method: 'POST', body: '{"names":true}' })).status).toBe(
        405,
      );
    } finally {
      running.kill('SIGINT');
    }
    await running.ended;
  });

  it('warns of a file that takes the name of the trace and is not served', async () => {
    const path = join(mkdtempSync(join(directory, 'replaced-')), 'core0.uscope');
    writeFileSync(path, bytes);
    const running = start([path]);
    try {
      const get = await entered(running);
      symlinkSync(file, `${path}.new`);
      renameSync(`${path}.new`, path);
      expect((await get('trace.uscope', { range: 'bytes=0-3' })).status).toBe(206);
      await running.printed('warning: the new file is not shown: READER_UNTRUSTED');
    } finally {
      running.kill('SIGINT');
    }
    await running.ended;
  });

  it('lists and opens no links of a directory', async () => {
    const listed = mkdtempSync(join(directory, 'listed-'));
    writeFileSync(join(listed, 'own.uscope'), bytes);
    symlinkSync(file, join(listed, 'link.uscope'));
    writeFileSync(join(listed, 'text.uscope'), 'a password\n'.repeat(20));
    await whileViewing([listed], async (get) => {
      const list = await (await get('runs.json')).text();
      expect([list.includes('"own"'), list.includes('"text"'), list.includes('"link"')]).toEqual([
        true,
        true,
        false,
      ]);
      expect((await get('traces/own/trace.uscope')).status).toBe(200);
      expect((await get('traces/link/trace.uscope')).status).toBe(404);
      const text = await get('traces/text/trace.uscope');
      expect([text.status, await text.text()]).toEqual([404, expect.stringContaining('FORMAT_MAGIC')]);
    });
  });

  it('serves two traces and the page that compares them, with names that tell them apart', async () => {
    mkdirSync(join(directory, 'after'), { recursive: true });
    writeFileSync(join(directory, 'after/core0.uscope'), bytes);
    const { status, stderr } = await whileViewing(['core0.uscope', 'after/core0.uscope'], async (get) => {
      const page = await (await get()).text();
      expect(page).toContain('name="uscope-a-name" content="core0.uscope"');
      expect(page).toContain('name="uscope-b-name" content="after/core0.uscope"');
      const [, address] = /name="uscope-b" content="([^"]+)"/.exec(page)!;
      const trace = await get(address!);
      expect(Buffer.from(await trace.arrayBuffer()).equals(bytes)).toBe(true);
      expect((await get('program.elf')).status).toBe(404);
    });
    expect(status).toBe(0);
    expect(stderr).toContain('uscope: showing core0.uscope and after/core0.uscope; Ctrl-C ends');
  });

  it.each([
    [['A', '.'], 'CLI_USAGE: . is a directory; several traces are shown file by file: name trace files'],
    [['A', 'A', '--at', '3'], 'CLI_USAGE: --at is for one trace'],
    [['A', '--elf', 'none.elf'], 'READER_OPEN: '],
    [['A', 'A', '--elf', 'none.elf'], 'READER_OPEN: '],
    [['A', 'A', 'A', '--elf', 'none.elf'], 'READER_OPEN: '],
    [['A', 'A', 'A', '--elf', 'A'], 'CONVERT_'],
    [['A', '--export', 'none', '--elf', 'none.elf'], 'READER_OPEN: '],
    [['A', '--png', 'none.png', '--elf', 'none.elf'], 'READER_OPEN: '],
    [['A', 'none.uscope'], 'READER_OPEN: '],
  ])('refuses to compare with %j', async (args, message) => {
    const named = args.map((arg) => (arg === 'A' ? file : arg));
    const { status, err } = await runUscope(['view', '--no-open', ...named]);
    expect(err).toContain(message);
    expect(status).toBe(message.startsWith('CLI') ? 2 : 1);
  });

  it('serves a trace of a web server, whose page it need not be', async () => {
    const server = await startRangeServer(bytes);
    try {
      await whileViewing([server.url], async (get) => {
        const answer = await get('trace.uscope');
        expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
      });
    } finally {
      await server.close();
    }
  });

  it('writes the page and the trace for another server', async () => {
    const out = join(mkdtempSync(join(directory, 'exported-')), 'out');
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

  it('refuses what is not a trace, and what is not there', async () => {
    const other = join(directory, 'log.txt');
    writeFileSync(other, 'no trace at all\n'.repeat(50));
    for (const [name, code] of [
      [other, 'FORMAT_MAGIC'],
      [join(directory, 'none'), 'READER_OPEN'],
    ] as const) {
      const { status, err } = await runUscope(['view', '--no-open', name]);
      expect([status, err]).toEqual([1, expect.stringContaining(code)]);
    }
  });

  describe('a file of another format', () => {
    const cached = (): string[] => {
      const folder = join(directory, 'cache/uscope/converted');
      return existsSync(folder) ? readdirSync(folder) : [];
    };
    const status = async (get: Get) =>
      (await (await get('status.json')).json()) as { state: string; isCut?: boolean };
    const ready = async (get: Get) => {
      let found = await status(get);
      for (; found.state === 'converting'; found = await status(get)) await pause(20);
      return found;
    };
    const viewed = async (args: string[]): Promise<void> => {
      await whileViewing(args, async (get) => {
        expect(await (await get()).text()).toContain('name="uscope-status" content="status.json"');
        expect((await ready(get)).state).toBe('ready');
        expect(await (await get('trace.uscope', { range: 'bytes=0-3' })).text()).toBe('uSCP');
      });
    };

    const vectorOf = (name: string): string => fileURLToPath(new URL(`../vectors/${name}`, import.meta.url));

    it.each([
      'gem5/window.out',
      'stf/every-record.stf',
      'ftr/everything_lz4.ftr',
      'flux/flz_in_lz4.flux',
      'ctrace/all_comp.ctrace',
    ])('%s is converted', (name) => viewed([vectorOf(name), '--no-cache']));

    it('is kept for the next time, unless --no-cache', async () => {
      rmSync(join(directory, 'cache'), { recursive: true, force: true });
      const vector = vectorOf('konata/two-threads.kanata');
      await viewed([vector, '--no-cache']);
      expect(cached()).toEqual([]);
      await viewed([vector]);
      const [kept, ...others] = cached();
      expect(others).toEqual([]);
      const path = join(directory, 'cache/uscope/converted', kept!);
      const { ino } = statSync(path);
      await viewed([vector]);
      expect(statSync(path).ino).toBe(ino);
    });

    it('that is cut: what precedes the cut is shown, and that it is one', async () => {
      const path = join(directory, 'cut.stf');
      const whole = readFileSync(new URL('../vectors/stf/every-record.stf', import.meta.url));
      writeFileSync(path, whole.subarray(0, whole.length - 3));
      for (let time = 0; time < 2; time++)
        await whileViewing([path], async (get) =>
          expect(await ready(get)).toEqual({ state: 'ready', isCut: true }),
        );
    });

    it('that breaks its rules: page and terminal get the reason', async () => {
      const path = join(directory, 'bad.kanata');
      writeFileSync(path, 'Kanata\t0004\nC=\tnowhere\n');
      const running = start([path]);
      expect(await ready(await entered(running))).toMatchObject({ state: 'failed', code: 'CONVERT_FORMAT' });
      const { status: exit, stderr } = await running.ended;
      expect([exit, stderr]).toEqual([1, expect.stringContaining('CONVERT_FORMAT')]);
    });

    it('under conversion: the page is there, the trace is not yet, and Ctrl-C leaves nothing', async () => {
      const before = cached();
      const log = `Kanata\t0004\nC=\t0\n${'C\t1\n'.repeat(200_000)}`;
      const server = await startRangeServer(Buffer.from(log));
      // The end of the file is not sent: the conversion waits for it.
      const waits = new Promise<void>((resolve) => {
        server.intercept = ({ headers }) => {
          const isEnd = Number(/bytes=(\d+)/.exec(headers.range ?? '')?.[1]) > 300_000;
          if (isEnd) resolve();
          return isEnd;
        };
      });
      try {
        const running = start([server.url]);
        const get = await entered(running);
        expect((await get()).status).toBe(200);
        expect(await status(get)).toMatchObject({
          state: 'converting',
          format: expect.stringContaining('Kanata'),
        });
        expect((await get('trace.uscope')).status).toBe(503);
        await waits;
        running.kill('SIGINT');
        const { status: exit, stderr } = await running.ended;
        expect([exit, stderr]).toEqual([0, expect.stringContaining('interrupted')]);
        expect(cached()).toEqual(before);
      } finally {
        await server.close();
      }
    });

    it('is exported as a trace', async () => {
      const out = join(mkdtempSync(join(directory, 'exported-')), 'out');
      const vector = vectorOf('konata/two-threads.kanata');
      expect((await runUscope(['view', '--export', out, vector])).status).toBe(0);
      expect(readFileSync(join(out, 'two-threads.kanata.uscope')).subarray(0, 4).toString()).toBe('uSCP');
      expect(readFileSync(join(out, 'index.html'), 'utf8')).toContain('content="two-threads.kanata.uscope"');
    });
  });

  it('says what cannot be written', async () => {
    const { status, err } = await runUscope(['view', '--export', join(file, 'below-a-file')]);
    expect([status, err]).toEqual([1, expect.stringContaining('WRITER_')]);
  });

  it('runs several times at once, each on its port; a port that is taken is refused', async () => {
    await whileViewing(['core0.uscope'], async (_, one) => {
      await whileViewing(['core0.uscope'], async (__, other) => {
        expect(new URL(one).port).not.toBe(new URL(other).port);
        const { status: exit, err } = await runUscope([
          ...['view', '--no-open', file, '--port', new URL(one).port],
        ]);
        expect([exit, err]).toEqual([1, expect.stringContaining('VIEW_PORT')]);
      });
    });
  });

  it.each([
    [['view']],
    [['view', 'x', '--port', '70000']],
    [['view', 'x', '--at', '-1']],
    [['view', 'x', '--at', 'soon']],
    [['view', 'x', '--source', '.']],
    [['view', 'x', '--theme', 'dark']],
    [['view', 'x', '--png', 'y.png', '--theme', 'blue']],
  ])('refuses %j as wrong usage', async (args) => {
    const { status, err } = await runUscope(args);
    expect([status, err]).toEqual([2, expect.stringContaining('CLI_USAGE')]);
  });
});
