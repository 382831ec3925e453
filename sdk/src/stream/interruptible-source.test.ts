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
      readInto: () => new Promise(() => undefined),
    };
    const source = interruptible(silent, controller.signal);
    const reads = [source.read(0, 4), source.readInto!(new Uint8Array(4), 0)];
    controller.abort(new Error('enough'));
    for (const read of reads) await expect(read).rejects.toThrow('enough');
    late(bytes); // nobody waits any more
  });

  it('reads into memory of the caller where its source does', async () => {
    const controller = new AbortController();
    const reading: Source = {
      ...memorySource(bytes),
      readInto: async (target, offset) => {
        target.set(bytes.subarray(offset, offset + target.length));
        return target.length;
      },
    };
    const target = new Uint8Array(2);
    expect(await interruptible(reading, controller.signal).readInto!(target, 1)).toBe(2);
    expect(target).toEqual(bytes.subarray(1, 3));
    expect(interruptible(memorySource(bytes), controller.signal).readInto).toBeUndefined();
  });

  it('fails as its source does', async () => {
    const broken: Source = { ...memorySource(bytes), read: () => Promise.reject(new Error('broken')) };
    await expect(interruptible(broken, new AbortController().signal).read(0, 1)).rejects.toThrow('broken');
  });
});
