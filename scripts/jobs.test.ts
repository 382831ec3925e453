import { describe, expect, it } from 'vitest';
import { type Job, runJobs } from './jobs.mjs';

/** Jobs that end on request, and those that have begun so far. */
function bench() {
  const begun: string[] = [];
  const ends = new Map<string, (result: string) => void>();
  const job = (name: string, needs: string[] = []): Job<string> => ({
    name,
    needs,
    run: () => {
      begun.push(name);
      return new Promise((resolve) => ends.set(name, resolve));
    },
  });
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.(`${name} done`);
    await new Promise(setImmediate);
  };
  return { begun, job, end };
}

describe('jobs', () => {
  it('run as many at a time as there is room for, in their order, and give their results in it', async () => {
    const { begun, job, end } = bench();
    const results = runJobs([job('a'), job('b'), job('c')], 2);
    expect(begun).toEqual(['a', 'b']);
    await end('b');
    expect(begun).toEqual(['a', 'b', 'c']);
    await end('c');
    await end('a');
    expect(await results).toEqual(['a done', 'b done', 'c done']);
  });

  it('wait for what they need, and let others pass', async () => {
    const { begun, job, end } = bench();
    const results = runJobs(
      [job('packages'), job('test', ['build']), job('build', ['packages']), job('c')],
      2,
    );
    expect(begun).toEqual(['packages', 'c']);
    await end('packages');
    expect(begun).toEqual(['packages', 'c', 'build']);
    await end('build');
    expect(begun).toEqual(['packages', 'c', 'build', 'test']);
    await end('test');
    await end('c');
    expect(await results).toHaveLength(4);
  });

  it('begin no more after one that fails; its error comes when those that run have ended', async () => {
    const { begun, job, end } = bench();
    const failing = { name: 'a', run: () => Promise.reject(new Error('no room')) };
    let error: unknown = null;
    const failed = runJobs([failing, job('b'), job('c')], 2).catch((thrown) => {
      error = thrown;
    });
    await new Promise(setImmediate);
    expect([begun, error]).toEqual([['b'], null]);
    await end('b');
    await failed;
    expect([begun, error]).toEqual([['b'], new Error('no room')]);
  });

  it('that need what nobody does are refused', async () => {
    await expect(runJobs([bench().job('a', ['b'])], 2)).rejects.toThrow('a needs');
  });
});
