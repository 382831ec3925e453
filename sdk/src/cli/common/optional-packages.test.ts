import { describe, expect, it } from 'vitest';
import { missingPackage } from './optional-packages.js';

const notFound = (message: string): Error =>
  Object.assign(new Error(message), { code: 'ERR_MODULE_NOT_FOUND' });

describe('a package that was left out', () => {
  it.each(['zeromq', '@modelcontextprotocol/sdk', 'zod'])('%s is named with what to do', async (name) => {
    const error = await missingPackage(notFound(`Cannot find package '${name}' imported from /a/b.js`));
    expect(error?.code).toBe('ENV_MISSING');
    expect(error?.message).toMatch(new RegExp(`npm install .*${name}`));
  });

  it('a package named by its path is recognized', async () => {
    const path = '/a/node_modules/@modelcontextprotocol/sdk/server/mcp.js';
    const error = await missingPackage(notFound(`Cannot find package '${path}' imported from /a/b.js`));
    expect(error?.message).toContain('uscope mcp');
  });

  it('other failures stay what they are', async () => {
    expect(await missingPackage(notFound("Cannot find package 'yaml' imported from /a/b.js"))).toBeNull();
    expect(await missingPackage(new Error("Cannot find package 'zeromq'"))).toBeNull();
    expect(await missingPackage(null)).toBeNull();
  });
});
