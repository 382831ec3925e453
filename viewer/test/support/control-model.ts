/** The C model of `test/bridge/control.c`, which runs until a file "stop" is there, under a command of ours. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BIN, Running } from '../../../test/support/processes.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SCHEMA = `uscope: 1
clocks: {clk: 1 ns}
scopes:
  a:
    storages:
      value: {slots: 1, kind: dense, fields: {cycle: u64}}
      taken: {slots: 4, kind: sparse, fields: {cycle: u64}}
  b:
    storages:
      value: {slots: 1, kind: dense, fields: {cycle: u64}}
    events:
      tick: {cycle: u64}
`;

/** @returns the program's path */
export function buildControlModel(directory: string): string {
  const dpi = join(ROOT, 'dpi');
  execFileSync('make', ['-s', '-C', dpi, 'build/libuscope.a']);
  const program = join(directory, 'model');
  const sources = [join(ROOT, 'test/bridge/control.c'), join(dpi, 'build/libuscope.a')];
  const options = ['-O1', '-I', join(dpi, 'include'), ...sources, '-lzmq', '-lpthread', '-o', program];
  execFileSync('cc', options);
  return program;
}

/** `uscope run --view` of the model in a directory that it has for itself. */
export class ViewedRun {
  readonly cwd = mkdtempSync(join(tmpdir(), 'uscope-viewed-'));
  readonly running: Running;

  constructor(program: string, options: readonly string[] = []) {
    writeFileSync(join(this.cwd, 'schema.yaml'), SCHEMA);
    const view = ['run', '--view', '--no-open', '--out', 'out', ...options];
    const args = [BIN, ...view, '--', program, 'schema.yaml'];
    this.running = new Running(process.execPath, args, { cwd: this.cwd, env: { TMPDIR: this.cwd } });
  }

  /** The address of the list, whose code lets one browser in. */
  async address(): Promise<string> {
    await this.running.printed('ssh -L');
    await this.running.printed('running');
    return /http:\S+\?code=\S+/.exec(this.running.stderr)![0];
  }

  file(name: string): string {
    return join(this.cwd, 'out', name);
  }

  /** The model closes its trace and ends. */
  stopModel(): void {
    writeFileSync(join(this.cwd, 'stop'), '');
  }

  async remove(): Promise<void> {
    this.running.kill('SIGKILL');
    await this.running.ended;
    rmSync(this.cwd, { recursive: true, force: true });
  }
}
