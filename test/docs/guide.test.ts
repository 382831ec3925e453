/** docs/tutorials/guide.md and the pages under docs/how-to/simulators, executed block by block as a reader would. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TRIES_ALL } from '../support/effort.js';
import { type Block, blocksOf, matchesOutput, ShellSession } from '../support/executable-document.js';
import { BUILDS_MS, limitOfFile } from '../support/limits.js';
import { lacks } from '../support/needs.js';
import { buildSdk } from '../support/processes.js';

// The commands of the documents build models with Verilator.
limitOfFile(BUILDS_MS);

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

// What `npm run setup` does, which both documents begin with.
beforeAll(() => {
  buildSdk();
  execFileSync('make', ['-C', join(root, 'dpi'), '--no-print-directory']);
});

function execute(session: ShellSession, block: Block): void {
  if (block.kind === 'file') {
    session.writeFile(block.path, block.text);
    return;
  }
  const { status, output } = session.run(block.script);
  expect(status, output).toBe(block.status);
  if (block.output !== null && !matchesOutput(block.output, output)) expect(output).toBe(block.output);
}

function titleOf(block: Block): string {
  return block.kind === 'file' ? block.path : (block.script.trim().split('\n')[0] ?? '');
}

/** Empty: it runs. */
function reasonNotToRun(block: Block): string {
  if (block.kind !== 'run') return '';
  if (block.isLong && !TRIES_ALL) return 'USCOPE_TEST_ALL=1 (other builds of the same model)';
  const isThere = block.needs === null || spawnSync('sh', ['-c', `command -v ${block.needs}`]).status === 0;
  return isThere ? '' : block.needs!;
}

describe.each(['docs/tutorials/guide.md', 'docs/how-to/simulators/verilator.md'])('%s', (path) => {
  const homes: string[] = [];
  let session: ShellSession;
  /** Blocks that the session has begun. */
  let begun = 0;
  const blocks = blocksOf(read(path));
  afterAll(() => {
    for (const home of homes) rmSync(home, { recursive: true, force: true });
  });

  /** A block that failed runs again in a new session, after all that precede it: what it left behind is in the way. */
  function follow(at: number): void {
    if (at === 0 || begun > at) {
      homes.push(mkdtempSync(join(tmpdir(), 'uscope-guide-')));
      session = new ShellSession(homes.at(-1)!, root);
      begun = 0;
    }
    for (; begun <= at; begun++) if (reasonNotToRun(blocks[begun]!) === '') execute(session, blocks[begun]!);
  }

  for (const [at, block] of blocks.entries()) {
    const reason = reasonNotToRun(block);
    it.skipIf(lacks(reason, reason === ''))(`line ${block.line}: ${titleOf(block)}`, () => follow(at));
  }

  it('shows files as they are in examples/guide', () => {
    const files = new Map(
      blocks.flatMap((block) => (block.kind === 'file' ? [[block.path, block.text]] : [])),
    );
    expect(files.size).toBeGreaterThan(0);
    for (const [name, text] of files) expect(text, name).toBe(read(`examples/guide/${name}`));
  });
});
