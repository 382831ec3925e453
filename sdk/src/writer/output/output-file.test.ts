import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { TempDirs } from '../../../../test/support/bridge-peer.js';
import { openNodeOutput } from './output-file.js';

const dirs = new TempDirs();
afterAll(() => dirs.cleanUp());
const create = async () => {
  const path = join(dirs.make(), 'out');
  return { path, file: await openNodeOutput(path, 'create') };
};
/** Far more than a vectored write takes at a time, some of them empty. */
const CHUNKS = Array.from({ length: 5000 }, (_, i) => new Uint8Array(i % 40).fill(i));
const whole = Buffer.concat(CHUNKS);

describe('an output file', () => {
  it('writes any number of chunks one after the other', async () => {
    const { path, file } = await create();
    await file.write(CHUNKS, 3);
    await file.write([], 0);
    await file.write([new Uint8Array(0)], 0);
    await file.sync();
    expect(readFileSync(path).equals(Buffer.concat([new Uint8Array(3), whole]))).toBe(true);
    await file.close();
  });

  it('is not continued through a link, which somebody else may have put there', async () => {
    const { path, file } = await create();
    await file.close();
    await (await openNodeOutput(path, 'resume')).close();
    symlinkSync(path, `${path}.link`);
    await expect(openNodeOutput(`${path}.link`, 'resume')).rejects.toThrow('WRITER_IO');
  });

  it('is closed when what is under way is done', async () => {
    const { path, file } = await create();
    const order: string[] = [];
    const writing = file.write(CHUNKS, 0).then(() => order.push('written'));
    const syncing = file.sync().then(() => order.push('synced'));
    await file.close().then(() => order.push('closed'));
    await Promise.all([writing, syncing]);
    expect(order.at(-1)).toBe('closed');
    expect(readFileSync(path).equals(whole)).toBe(true);
  });

  it('is closed for everybody who asks meanwhile', async () => {
    const { path, file } = await create();
    const writing = file.write(CHUNKS, 0);
    await Promise.all([file.close(), file.close(), writing]);
    expect(readFileSync(path).equals(whole)).toBe(true);
  });

  it('that is closed takes nothing, whichever file has its descriptor now', async () => {
    const { file } = await create();
    await file.close();
    const other = await create();
    await expect(file.write([whole], 0)).rejects.toMatchObject({ code: 'WRITER_IO' });
    await expect(file.sync()).rejects.toMatchObject({ code: 'WRITER_IO' });
    expect(readFileSync(other.path)).toHaveLength(0);
    await other.file.close();
  });

  it('says what the system refuses', async () => {
    const { path, file } = await create();
    await file.close();
    await expect(openNodeOutput(path, 'create')).rejects.toMatchObject({ code: 'WRITER_EXISTS' });
    const full = await openNodeOutput('/dev/full', 'resume');
    await expect(full.write([whole], 0)).rejects.toMatchObject({ code: 'WRITER_DISK_FULL' });
    await full.close();
  });
});
