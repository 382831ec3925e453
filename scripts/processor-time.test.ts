import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { limitOfFile, PROCESSES_MS } from '../test/support/limits.js';
import { lacks } from '../test/support/needs.js';
import { childrenSeconds, secondsOf } from './processor-time.mjs';

// A process computes.
limitOfFile(PROCESSES_MS);

describe('the processor time of children', () => {
  it('is read after a name that may contain anything', () => {
    const fields = ['S', ...Array.from({ length: 12 }, (_, i) => i), 250, 150, 20];
    expect(secondsOf(`42 (a) b (c) ${fields.join(' ')}`)).toBe(4);
  });

  it.skipIf(lacks('/proc', process.platform === 'linux'))('grows with what they compute', () => {
    const before = childrenSeconds() ?? 0;
    const busy = 'const end = process.cpuUsage().user + 3e5; while (process.cpuUsage().user < end);';
    expect(spawnSync(process.execPath, ['-e', busy]).status).toBe(0);
    expect((childrenSeconds() ?? 0) - before).toBeGreaterThan(0.25);
  });
});
