/** How this product names itself to its peers and to people. */
import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

export const VERSION = manifest.version;
export const PRODUCT = `uscope ${VERSION}`;
