/** Another user of the machine listens in the place of a daemon, or leaves files for those who look for one. */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILDS_MS, limitOfFile } from '../support/limits.js';
import { lacks } from '../support/needs.js';
import { BIN, buildSdk, Running, until } from '../support/processes.js';
import { runAs, secondUser, whyNoSecondUser } from '../support/second-user.js';

// The client is built, and processes are waited for.
limitOfFile(BUILDS_MS);

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PYTHON = join(ROOT, 'cocotb-adapter/.venv/bin/python');
const hasPython = (() => {
  try {
    execFileSync(PYTHON, ['-c', 'import cocotb, zmq'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();
const SCHEMA = 'uscope: 1\nclocks: {clk: 1 ns}\nstorages: {n: counter}\n';
const MODEL_C = `#include "uscope.h"
#include <stdio.h>
int main(void) {
  uscope_open_options_t options = USCOPE_OPEN_OPTIONS_INIT;
  options.name = "c0";
  printf("%s\\n", uscope_writer_open_opts(&options) ? "opened" : uscope_last_error_message());
  return 0;
}
`;
const MODEL_PY = `import os, sys
os.environ["USCOPE_ON_FAILURE"] = "stop"
sys.path.insert(0, ${JSON.stringify(join(ROOT, 'cocotb-adapter/src'))})
from cocotbext.uscope.client import ClientTrace
try:
    ClientTrace("py0")
    print("opened")
except Exception as error:
    print(error)
`;
const CONTROL = `import { control } from ${JSON.stringify(join(ROOT, 'sdk/dist/bridge/client/ctl.js'))};
try {
  await control(process.env.USCOPE_ENDPOINT, { action: 'status' });
  console.log('opened');
} catch (error) {
  console.log(error.message);
}
process.exit(0);
`;

let home = '';
let clients: (readonly [name: string, command: readonly string[]])[] = [];
beforeAll(() => {
  buildSdk();
  execFileSync('make', ['-s', '-C', join(ROOT, 'dpi')], { stdio: ['ignore', 'ignore', 'pipe'] });
  home = mkdtempSync(join(tmpdir(), 'uscope-squat-'));
  chmodSync(home, 0o755);
  writeFileSync(join(home, 'model.c'), MODEL_C);
  writeFileSync(join(home, 'model.py'), MODEL_PY);
  writeFileSync(join(home, 'control.mjs'), CONTROL);
  const library = [join(ROOT, 'dpi/build/libuscope.a'), '-lzmq', '-lpthread'];
  execFileSync('cc', [
    join(home, 'model.c'),
    '-I',
    join(ROOT, 'dpi/include'),
    ...library,
    '-o',
    join(home, 'model'),
  ]);
  clients = [
    ['C', [join(home, 'model')]],
    ...(hasPython ? [['Python', [PYTHON, join(home, 'model.py')]] as const] : []),
    ['uscope ctl', [process.execPath, join(home, 'control.mjs')]],
  ];
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** What each client says of an endpoint. They ask at the same time, each for a trace with a separate name. */
async function answers(environment: Readonly<Record<string, string>>): Promise<string[]> {
  const outcomes = clients.map(async ([name, [program = '', ...args]]) => {
    const env = { USCOPE_ON_FAILURE: 'continue', USCOPE_OPEN_TIMEOUT_MS: '2000', ...environment };
    const { stdout } = await new Running(program, args, { cwd: home, env }).ended;
    return `${name}: ${stdout}`;
  });
  return Promise.all(outcomes);
}

describe.skipIf(lacks(`${whyNoSecondUser}`, whyNoSecondUser === null))('a daemon of another user', () => {
  /** Runs `uscope serve` as the other user, at a socket that everybody may open. */
  async function withSquatter(path: string, action: () => Promise<void>): Promise<void> {
    const { uid, gid } = secondUser();
    const out = join(home, 'out');
    mkdirSync(out, { recursive: true });
    chownSync(out, uid, gid);
    writeFileSync(join(home, 'schema.yaml'), SCHEMA);
    const squatter = spawn(
      process.execPath,
      [BIN, 'serve', '--endpoint', `ipc://${path}`, '--out', out, '--schema', join(home, 'schema.yaml')],
      { uid, gid, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'], env: { PATH: process.env.PATH } },
    );
    let said = '';
    squatter.stderr.on('data', (text: Buffer) => {
      said += text;
    });
    const ended = new Promise((resolve) => squatter.once('close', resolve));
    try {
      await until('the squatter to listen', () => said.includes('listening'));
      chmodSync(path, 0o666);
      await action();
    } finally {
      squatter.kill('SIGKILL');
      await ended;
    }
  }

  it('gets no frame at an explicit endpoint, from a client in any language', async () => {
    const { uid, gid } = secondUser();
    const directory = join(home, 'explicit');
    mkdirSync(directory, { recursive: true });
    chownSync(directory, uid, gid);
    const path = join(directory, 'd.sock');
    rmSync(path, { force: true });
    await withSquatter(path, async () => {
      const endpoint = { USCOPE_ENDPOINT: `ipc://${path}` };
      for (const answer of await answers(endpoint)) {
        expect(answer).toContain(`belongs to user ${uid}`);
      }
      // Who says that this user is trusted gets a trace there.
      const trusted = await answers({ ...endpoint, USCOPE_PEER_UID: String(uid) });
      expect(trusted).toEqual(clients.map(([name]) => `${name}: opened\n`));
      // The socket may be given another owner; the process that listens may not.
      chownSync(path, 0, 0);
      for (const answer of await answers(endpoint)) {
        if (!answer.startsWith('uscope ctl')) expect(answer).toContain('the process that listens at');
      }
    });
  });

  it('gets no frame at the default place, whose directory it made first', async () => {
    const { uid, gid } = secondUser();
    const runtime = join(home, 'runtime');
    mkdirSync(runtime, { recursive: true });
    chownSync(runtime, uid, gid);
    const path = join(runtime, 'uscope.sock');
    rmSync(path, { force: true });
    await withSquatter(path, async () => {
      for (const answer of await answers({ XDG_RUNTIME_DIR: runtime, USCOPE_ENDPOINT: '' })) {
        if (!answer.startsWith('uscope ctl')) expect(answer).toContain(`${runtime} belongs to user ${uid}`);
      }
    });
  });

  it('is not asked because of a file that the other user left in an output directory', async () => {
    const { uid, gid } = secondUser();
    const out = join(home, 'shared');
    mkdirSync(out, { recursive: true });
    chmodSync(out, 0o777);
    const start = String(
      execFileSync('sh', ['-c', `sed 's/.*) //' /proc/${process.pid}/stat | cut -d' ' -f20`]),
    ).trim();
    const text = JSON.stringify({ endpoint: `ipc://${out}/d.sock`, pid: process.pid, start, keys: false });
    const file = join(out, `.uscope-daemon.${process.pid}.json`);
    writeFileSync(file, text, { mode: 0o600 });
    chownSync(file, uid, gid);
    const ctl = await new Running(process.execPath, [BIN, 'ctl', out, 'status'], { cwd: home }).ended;
    expect(ctl).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`READER_UNTRUSTED: it belongs to user ${uid}`),
    });
  });

  it('cannot be reached by others, nor its buffers read', async () => {
    const private_ = join(home, 'private');
    const serve = new Running(
      process.execPath,
      [BIN, 'serve', '--endpoint', `ipc://${private_}/d.sock`, '--out', join(home, 'own')],
      { cwd: home },
    );
    try {
      await serve.printed('listening');
      const probe = `require('node:net').connect(${JSON.stringify(`${private_}/d.sock`)}).on('error', (e) => console.log(e.code)).on('connect', () => console.log('connected'))`;
      const { stdout } = await runAs(secondUser(), process.execPath, ['-e', probe]);
      expect(stdout).toBe('EACCES\n');
    } finally {
      serve.kill('SIGTERM');
      await serve.ended;
    }
  });
});
