import {
  chmod,
  lstat,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replaceFile, writeAtomically, writeFileAtomically } from './atomic-file.js';
import { distrustOf, ownUid, readOwnFile } from './own-file.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-atomic-'));
});
afterEach(() => rm(directory, { recursive: true }));

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

describe('an output file', () => {
  it('keeps its old content, and leaves no partial file, when writing fails', async () => {
    const path = join(directory, 'page.html');
    await writeFile(path, 'old');
    const aborted = AbortSignal.abort(new Error('interrupted'));
    await expect(
      writeFileAtomically(path, 'new', { inputs: [], force: true, signal: aborted }),
    ).rejects.toThrow('interrupted');
    expect(await readFile(path, 'utf8')).toBe('old');
    expect(await readdir(directory)).toEqual(['page.html']);
  });

  it('replaces nothing without force', async () => {
    const path = join(directory, 'page.html');
    await writeFile(path, 'old');
    await expect(writeFileAtomically(path, 'new', { inputs: [] })).rejects.toThrow('WRITER_EXISTS');
    expect(await readFile(path, 'utf8')).toBe('old');
  });

  it('replaces a link instead of writing to what it names', async () => {
    const [path, other] = [join(directory, 'page.html'), join(directory, 'other')];
    await writeFile(other, 'precious');
    await symlink(other, path);
    await expect(writeFileAtomically(path, 'new', { inputs: [] })).rejects.toThrow('WRITER_EXISTS');
    await replaceFile(path, 'new');
    expect(await readFile(other, 'utf8')).toBe('precious');
    expect((await lstat(path)).isSymbolicLink()).toBe(false);
  });

  it.each([0o600, 0o640, 0o644])('has the mode of the file that it is derived from: %o', async (mode) => {
    const [source, path] = [join(directory, 'a.uscope'), join(directory, 'a.json')];
    await writeFile(source, 'trace');
    await chmod(source, mode);
    await writeFileAtomically(path, 'derived', { inputs: [source], source });
    expect(await modeOf(path)).toBe(mode);
  });

  it('is open to those who may read all of its sources', async () => {
    const sources = await Promise.all(
      [0o644, 0o620, 0o640].map(async (mode, index) => {
        const source = join(directory, `${index}.uscope`);
        await writeFile(source, 'trace');
        await chmod(source, mode);
        return source;
      }),
    );
    const path = join(directory, 'all.json');
    await writeFileAtomically(path, 'derived', { inputs: [...sources, 'https://example.org/a.uscope', '-'] });
    expect(await modeOf(path)).toBe(0o600);
  });

  it('is read by nobody while it is written', async () => {
    const path = join(directory, 'a.json');
    await writeAtomically(path, { inputs: [] }, async (temporary) => {
      await writeFile(temporary, 'half', { mode: 0o666 });
      expect(await modeOf(dirname(temporary))).toBe(0o700);
    });
  });

  it('may be a pipe or an open file of the process, which are written to', async () => {
    const target = join(directory, 'log');
    const file = await open(target, 'w');
    await file.write('before\n');
    await writeFileAtomically(`/dev/fd/${file.fd}`, 'after\n', { inputs: [] });
    await file.close();
    expect(await readFile(target, 'utf8')).toBe('before\nafter\n');
    await writeFileAtomically('/dev/null', 'x', { inputs: [] });
    await expect(writeAtomically('/dev/stdout', { inputs: [], force: true }, expect.fail)).rejects.toThrow(
      'no ordinary file is there',
    );
  });
});

describe('a file that this process acts on', () => {
  it('is read when it is of its own user and nobody else writes it', async () => {
    const path = join(directory, 'own.json');
    await replaceFile(path, '{}', 0o600);
    expect(await readOwnFile(path, 100)).toBe('{}');
    expect(await readOwnFile(join(directory, 'none'), 100)).toBeNull();
  });

  it('is refused as a link, as a directory, when others may write it, and when it is too long', async () => {
    const [path, link] = [join(directory, 'own.json'), join(directory, 'link.json')];
    await replaceFile(path, '{"long":1}', 0o600);
    await symlink(path, link);
    await expect(readOwnFile(link, 100)).rejects.toThrow('it is a symbolic link');
    await expect(readOwnFile(directory, 100)).rejects.toThrow('it is not an ordinary file');
    await expect(readOwnFile(path, 9)).rejects.toThrow('it has more than 9 bytes');
    await chmod(path, 0o666);
    await expect(readOwnFile(path, 100)).rejects.toThrow('others may write it (mode 0666)');
  });

  it('is refused when another user owns it', () => {
    expect(distrustOf({ uid: ownUid() + 1, mode: 0o600 })).toBe(`it belongs to user ${ownUid() + 1}`);
    expect(distrustOf({ uid: 0, mode: 0o644 })).toBeNull();
  });
});
