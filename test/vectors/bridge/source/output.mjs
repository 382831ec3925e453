// @ts-check
/** The files of the vectors. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { object } from './fields.mjs';

/** @typedef {import('./fields.mjs').Value} Value */

export const UP = 'to-daemon';
export const DOWN = 'to-client';

export class Output {
  /** @param {string} directory */
  constructor(directory) {
    this.directory = directory;
    mkdirSync(directory, { recursive: true });
  }

  /** @param {string} name @param {number[]} bytes @param {object} description */
  emit(name, bytes, description) {
    writeFileSync(join(this.directory, `${name}.bin`), Uint8Array.from(bytes));
    writeFileSync(join(this.directory, `${name}.json`), `${JSON.stringify(description, null, 2)}\n`);
  }

  /** @param {string} name @param {string} direction @param {Record<string, Value>} fields @param {object} [more] */
  control(name, direction, fields, more = {}) {
    const { json: message, bytes } = object(fields);
    this.emit(name, bytes, { kind: 'control', direction, message, ...more });
  }
}
