import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { checkPlace } from './trusted-place.js';

const directory = mkdtempSync(join(tmpdir(), 'uscope-place-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('of a daemon that is not there yet, or on tcp, is taken', () => {
  checkPlace(`ipc://${directory}/none.sock`);
  checkPlace('tcp://127.0.0.1:7000');
});

it('is refused when something else than a socket is there', () => {
  writeFileSync(join(directory, 'file'), '');
  expect(() => checkPlace(`ipc://${directory}/file`)).toThrow(/BRIDGE_ENDPOINT: .*file is not a socket/);
});

it('is refused by default in a directory that others may enter', () => {
  const runtime = join(directory, 'runtime');
  mkdirSync(runtime, { mode: 0o700 });
  const env = { XDG_RUNTIME_DIR: runtime };
  checkPlace(`ipc://${runtime}/uscope.sock`, env);
  chmodSync(runtime, 0o755);
  expect(() => checkPlace(`ipc://${runtime}/uscope.sock`, env)).toThrow(
    /BRIDGE_ENDPOINT: .*is not a directory that only you may enter \(chmod 700\)/,
  );
});
