import { describe, expect, it } from 'vitest';
import { memorySource, type Source } from '../reader/index.js';
import { interruptible } from './interruptible-source.js';

describe('a source that can be interrupted', () => {
  const bytes = Uint8Array.of(1, 2, 3, 4);

  it('reads until the signal is raised, and then fails with its reason', async () => {
    const controller = new AbortController();
    const source = interruptible(memorySource(bytes), controller.signal);
    expect(await source.read(1, 2)).toEqual(bytes.subarray(1, 3));
    controller.abort(new Error('enough'));
    await expect(source.read(0, 1)).rejects.toThrow('enough');
  });

  it('does not wait for bytes that never come', async () => {
    const controller = new AbortController();
    let late: (bytes: Uint8Array) => void = () => undefined;
    const silent: Source = {
      ...memorySource(bytes),
      name: 'silent',
      read: () =>
        new Promise((resolve) => {
          late = resolve;
        }),
    };
    const read = interruptible(silent, controller.signal).read(0, 4);
    controller.abort(new Error('enough'));
    await expect(read).rejects.toThrow('enough');
    late(bytes); // nobody waits any more
  });

  it('fails as its source does', async () => {
    const broken: Source = { ...memorySource(bytes), read: () => Promise.reject(new Error('broken')) };
    await expect(interruptible(broken, new AbortController().signal).read(0, 1)).rejects.toThrow('broken');
  });
});
