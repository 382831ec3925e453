import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { installCommand, isOfPython } from './install-command.js';

describe('the command that adds a package', () => {
  it.each([
    ['/work/clone/sdk/dist/base/x.js', '/work/clone', 'npm install p@1'],
    ['/work/project/node_modules/uscope/dist/base/x.js', '/work/project/sub', 'npm install p@1'],
    ['/usr/lib/node_modules/uscope/dist/base/x.js', '/work/project', 'npm install -g p@1'],
    [
      '/v env/lib/python3.11/site-packages/uscope/node_modules/uscope/dist/base/x.js',
      '/work',
      'npm install --prefix "/v env/lib/python3.11" p@1',
    ],
  ])('for %s in %s', (program, directory, command) => {
    expect(installCommand('p@1', program, directory, '/none/bin/node')).toBe(command);
    expect(isOfPython(program)).toBe(program.includes('site-packages'));
  });

  it('uses the npm of the Node.js that pip has installed', () => {
    const home = mkdtempSync(join(tmpdir(), 'uscope-npm-'));
    const npm = join(home, 'lib/node_modules/npm/bin/npm-cli.js');
    mkdirSync(join(npm, '..'), { recursive: true });
    mkdirSync(join(home, 'bin'));
    writeFileSync(npm, '');
    const node = join(home, 'bin/node');
    const program = '/v/lib/python3.11/site-packages/uscope/node_modules/uscope/dist/base/x.js';
    expect(installCommand('p@1', program, '/work', node)).toBe(
      `"${node}" "${npm}" install --prefix "/v/lib/python3.11" p@1`,
    );
    rmSync(home, { recursive: true });
  });
});
