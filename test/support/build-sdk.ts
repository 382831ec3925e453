/** The compiled SDK: what runs as a process is what was compiled. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SOURCES = join(ROOT, 'sdk/src');
/** Digest of what sdk/dist was built from; the compiler needs seconds to find that it has nothing to do. */
const STAMP = join(ROOT, 'sdk/dist/.built-from');
const SETTINGS = ['sdk/tsconfig.build.json', 'tsconfig.json', 'package-lock.json'];
/** Written by every build, so that one by somebody else in between is seen. */
const BUILD_INFO = ['sdk/dist/.tsbuildinfo'];

/** Brings sdk/dist up to date with the sources. */
export function buildSdk(): void {
  const sources = digestOf([...sourceFiles(), ...SETTINGS]);
  if (contents(STAMP) === sources + digestOf(BUILD_INFO)) return;
  try {
    execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'sdk/tsconfig.build.json'], {
      cwd: ROOT,
    });
  } catch (error) {
    // Type errors are another test's business; the files are written all the same.
    if ((error as { status?: number }).status === null) throw error;
  }
  writeFileSync(STAMP, sources + digestOf(BUILD_INFO));
}

function sourceFiles(): string[] {
  return readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.[cm]?[jt]s$/.test(name) && !name.endsWith('.test.ts'))
    .map((name) => join('sdk/src', name))
    .sort();
}

function digestOf(files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const name of files) {
    const text = contents(join(ROOT, name));
    hash.update(`${name} ${text?.length}\n`).update(text ?? '');
  }
  return hash.digest('hex');
}

function contents(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
