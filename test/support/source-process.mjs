// @ts-check
/** Lets a process that a test starts run from the sources: `node --import source-process.mjs`. */
import { register } from 'node:module';

register('./source-hooks.mjs', import.meta.url);
