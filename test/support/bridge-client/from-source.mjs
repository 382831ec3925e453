// @ts-check
/** The client for processes that tests start: from its source. */
import { register } from 'node:module';

register('../source-hooks.mjs', import.meta.url);
/** @type {typeof import('./client.js')} */
export const { BridgeClient } = await import(new URL('./client.ts', import.meta.url).href);
