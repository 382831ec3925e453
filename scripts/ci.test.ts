import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limitOfFile, PROCESSES_MS } from '../test/support/limits.js';
import { ROOT } from './step.mjs';

// The command of continuous integration is started.
limitOfFile(PROCESSES_MS);

describe('.ci/run', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'uscope-ci-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  /** Runs it with an `npm` that prints what is given for each command, and ends with that status. */
  function ci(test: [string, number], long: [string, number]): { status: number | null; lines: string[] } {
    const [[tested, testStatus], [longTested, longStatus]] = [test, long];
    const npm = `#!/bin/sh
      case "$*" in
        test) printf '${tested}\\n'; exit ${testStatus} ;;
        'run test:long'*) printf '${longTested}\\n'; exit ${longStatus} ;;
      esac
      exit 99`;
    writeFileSync(join(directory, 'npm'), npm, { mode: 0o755 });
    const { status, stdout } = spawnSync(join(ROOT, '.ci/run'), [], {
      env: { ...process.env, PATH: `${directory}:${process.env.PATH}` },
      encoding: 'utf8',
    });
    return { status, lines: stdout.trimEnd().split('\n') };
  }

  it('sums both commands in its last line', () => {
    const { status, lines } = ci(['ok   a step\\n\\n120 passed, 0 failed', 0], ['30 passed, 0 failed', 0]);
    expect([status, lines.at(-1)]).toEqual([0, '150 passed, 0 failed']);
    expect(lines).toContain('ok   a step');
  });

  it('runs the long tests even if others failed', () => {
    expect(ci(['118 passed, 2 failed', 1], ['29 passed, 1 failed', 1])).toMatchObject({
      status: 1,
      lines: expect.arrayContaining(['147 passed, 3 failed']),
    });
  });

  it('counts a command that ended before it counted as a failure', () => {
    const { status, lines } = ci(['120 passed, 0 failed', 0], ['ENV_MISSING', 2]);
    expect([status, lines.at(-1)]).toEqual([1, '120 passed, 1 failed']);
  });
});
