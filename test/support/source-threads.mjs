// @ts-check
/** Lets threads that tests start run from the sources, which Node does not read by itself; vitest's own processes have vite for that. */
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

if (!isMainThread) register('./source-hooks.mjs', import.meta.url);
