/** What another user of the machine gets of a trace that is viewed: nothing, neither through its server nor by files that are put in its way. */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildSdk } from '../support/build-sdk.js';
import { TraceBuilder } from '../support/build-trace.js';
import { enter } from '../support/enter-view.mjs';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { lacks } from '../support/needs.js';
import { modelSchema, runModel } from '../support/pipeline-model.js';
import { BIN, Running } from '../support/processes.js';
import { runAs, secondUser, type User, whyNoSecondUser } from '../support/second-user.js';

// Commands are started, as two users.
limitOfFile(PROCESSES_MS);

const { frames, strings } = runModel((below) => below >> 1, 50);
const bytes = new TraceBuilder({ schema: modelSchema() }).segment({ frames, strings }).finalize().bytes;
const SECRET = 'a line that only the user may read';

const PLACES = [
  ...['', 'trace.uscope', 'status.json', 'sql', 'program.elf', 'lines.json?pcs=0', 'runs.json', 'control'],
  ...['traces/core0/', 'traces/core0/trace.uscope', 'traces/core0/recording.json', 'traces/core0/sql'],
  ...['0/core0.uscope', 'index.html', 'page.js', '?code=guessed'],
];

/** Asks for each place below an address, by all that a user can send. Prints status and a mark where the answer has more than a refusal. */
const ATTACK = `
const [url, ...places] = process.argv.slice(1);
const body = JSON.stringify({ names: true, action: 'pause' });
for (const place of places)
  for (const options of [{}, { method: 'POST', body }, { headers: { cookie: 'uscope=', authorization: 'Bearer x' } }]) {
    const answer = await fetch(new URL(place, url), options);
    const text = await answer.text();
    if (answer.status !== 403 || !text.startsWith('403: ')) console.log('GOT', place, answer.status, text.slice(0, 80));
  }
console.log('asked');
`;

describe.skipIf(lacks(`${whyNoSecondUser}`, whyNoSecondUser === null))('a trace that is viewed', () => {
  let user: User;
  let directory: string;
  let file: string;
  beforeAll(() => {
    buildSdk();
    user = secondUser();
    directory = mkdtempSync(join(tmpdir(), 'uscope-two-view-'));
    chmodSync(directory, 0o755);
    file = join(directory, 'core0.uscope');
    writeFileSync(file, bytes, { mode: 0o600 });
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  /** Starts the command, waits for its address, and ends it after the use. */
  async function whileViewing(
    args: readonly string[],
    use: (address: string, running: Running) => Promise<void>,
    cwd = directory,
  ) {
    const running = new Running(process.execPath, [BIN, 'view', '--no-open', ...args], {
      cwd,
      env: { TMPDIR: directory },
    });
    try {
      await running.printed('ssh -L');
      await use(running.stdout.trim(), running);
    } finally {
      running.kill('SIGINT');
      await running.ended;
    }
  }

  const attack = (url: string) =>
    runAs(user, process.execPath, ['--input-type=module', '--eval', ATTACK, url, ...PLACES]);

  it.each([
    ['a trace', ['core0.uscope']],
    ['two traces', ['core0.uscope', 'core0.uscope']],
    ['a directory', ['.']],
  ])('gives another user neither page, trace, list, SQL, status nor source: %s', async (_, args) => {
    await whileViewing(args, async (address) => {
      // Also to who has seen the address in the bar of the browser, or knows only the port; the code is used by then.
      const { url, headers } = await enter(address);
      expect((await fetch(url, { headers })).status).toBe(200);
      for (const known of [url, new URL('/', url).href])
        expect(await attack(known)).toEqual({ status: 0, stdout: 'asked\n', stderr: '' });
    });
  });

  it('shows its code in no arguments of a process, nor in a file that others read', async () => {
    const program = join(directory, 'xdg-open');
    // As a browser it stays, with its arguments.
    writeFileSync(program, `#!/bin/sh\nprintf '%s' "$1" > ${directory}/opened\nexec sleep 5\n`, {
      mode: 0o755,
    });
    const running = new Running(process.execPath, [BIN, 'view', 'core0.uscope'], {
      cwd: directory,
      env: {
        TMPDIR: directory,
        DISPLAY: ':9',
        SSH_CONNECTION: '',
        CI: '',
        PATH: `${directory}:${process.env.PATH}`,
      },
    });
    try {
      await running.printed('ssh -L');
      const opened = join(directory, 'opened');
      await expect
        .poll(() => runAs(user, 'cat', [opened]).then(({ stdout }) => stdout))
        .toMatch(/viewer\.html$/);
      const page = readFileSync(opened, 'utf8');
      expect(readFileSync(page, 'utf8')).toContain('?code=');
      expect((await runAs(user, 'cat', [page])).status).not.toBe(0);
      expect((await runAs(user, 'ps', ['axww', '-o', 'args'])).stdout).not.toContain('?code=');
    } finally {
      running.kill('SIGINT');
      await running.ended;
    }
  });

  it.each([
    ['a link', (path: string) => `ln -s /etc/passwd ${path}.new && mv ${path}.new ${path}`],
    ['a file of the other user', (path: string) => `cp ${path} ${path}.new && mv ${path}.new ${path}`],
    ['a file that is not a trace', (path: string) => `echo text > ${path}.new && mv ${path}.new ${path}`],
  ])('is served as it was opened when another user replaces it by %s', async (_, commandFor) => {
    // The other user may write the directory, not the trace.
    const shared = mkdtempSync(join(directory, 'shared-'));
    chownSync(shared, user.uid, user.gid);
    const path = join(shared, 'core0.uscope');
    writeFileSync(path, bytes, { mode: 0o644 });
    const whole = async (address: string, place: string, running: Running): Promise<void> => {
      const { url, headers } = await enter(address);
      const get = async () =>
        Buffer.from(await (await fetch(new URL(place, url), { headers })).arrayBuffer());
      expect((await get()).equals(bytes)).toBe(true);
      writeFileSync(path, bytes, { mode: 0o644 });
      expect(await runAs(user, 'sh', ['-c', commandFor(path)])).toMatchObject({ status: 0, stderr: '' });
      expect((await get()).equals(bytes)).toBe(true);
      await running.printed('warning: the new file is not shown');
      rmSync(path);
      writeFileSync(path, bytes, { mode: 0o644 });
    };
    await whileViewing([path], (address, running) => whole(address, 'trace.uscope', running));
    await whileViewing([shared], (address, running) => whole(address, 'traces/core0/trace.uscope', running));
  });

  const compiler = ['cc', 'addr2line'].every((tool) => spawnSync(tool, ['--version']).status === 0);
  it.skipIf(lacks('cc and addr2line', compiler))(
    'shows no lines of a private file that a program of another user names',
    async () => {
      const theirs = mkdtempSync(join(directory, 'theirs-'));
      chownSync(theirs, user.uid, user.gid);
      const mine = mkdtempSync(join(directory, 'mine-'));
      const secret = join(mine, 'secret');
      writeFileSync(secret, `${SECRET}\n`, { mode: 0o600 });
      // By its name, and by a link below the program's directory.
      const link = join(theirs, 'link.c');
      const source = `#line 1 "${secret}"\nint main(void) { return 0; }\n#line 1 "${link}"\nint other(void) { return 1; }\n`;
      const made = await runAs(
        user,
        'sh',
        ['-c', `ln -s ${secret} link.c && cc -g -no-pie -x c - -o program && nm program`],
        { cwd: theirs, input: source },
      );
      expect(made.stderr).toBe('');
      const pcs = ['main', 'other'].map(
        (name) => new RegExp(`^0*(\\w+) T ${name}$`, 'm').exec(made.stdout)![1],
      );
      const program = join(theirs, 'program');
      const linesWith = async (options: readonly string[]) => {
        let text = '';
        const ask = async (address: string): Promise<void> => {
          const { url, headers } = await enter(address);
          text = await (await fetch(new URL(`lines.json?pcs=${pcs.join(',')}`, url), { headers })).text();
        };
        // The working directory is a place of sources, too: it is not the one above all of these.
        await whileViewing([file, '--elf', program, ...options], ask, theirs);
        return text;
      };
      const shown = await linesWith([]);
      expect(JSON.parse(shown).lines).toMatchObject([
        { path: secret, line: 1, text: null },
        { path: link, line: 1, text: null },
      ]);
      expect(await linesWith(['--source', mine])).toContain(SECRET);
    },
  );
});
