/** The SDK as it was at an earlier commit, built from the repository's history. */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { transform } from 'esbuild';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SCRIPT = fileURLToPath(new URL('older-build.mjs', import.meta.url));
const MAX_OUTPUT = 64 * 1024 * 1024;
const execute = promisify(execFile);

/** Whether the repository has its history back to a commit: an archive and a shallow clone do not. */
export function hasCommit(commit: string): boolean {
  return spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT }).status === 0;
}

export class OlderBuild {
  private constructor(private readonly sdk: string) {}

  /** @param directory an empty one */
  static async of(commit: string, directory: string): Promise<OlderBuild> {
    const sdk = join(directory, 'sdk');
    const archive = join(directory, 'sources.tar');
    execFileSync('git', ['archive', '--output', archive, commit, 'sdk/src', 'sdk/package.json'], {
      cwd: ROOT,
    });
    execFileSync('tar', ['-xf', archive, '-C', directory]);
    const names = readdirSync(join(sdk, 'src'), { recursive: true, encoding: 'utf8' });
    const sources = names.filter((name) => /\.ts$/.test(name) && !/\.test\.ts$/.test(name));
    const built = sources.map(async (name) => {
      const target = join(sdk, 'dist', name.replace(/\.ts$/, '.js'));
      const { code } = await transform(readFileSync(join(sdk, 'src', name), 'utf8'), { loader: 'ts' });
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, code);
    });
    await Promise.all(built);
    symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
    return new OlderBuild(sdk);
  }

  /** What `older-build.mjs` prints. */
  async run(what: 'list' | 'verify' | 'recover' | 'resume', ...paths: string[]) {
    const args = [SCRIPT, this.sdk, what, ...paths];
    const { stdout } = await execute(process.execPath, args, { maxBuffer: MAX_OUTPUT });
    return JSON.parse(stdout);
  }
}
