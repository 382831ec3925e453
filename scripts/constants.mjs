// @ts-check
/**
 * Writes the constants of constants-definition.mjs as TypeScript, C and Python. SystemVerilog has none of them: its calls go to C.
 *
 *     node scripts/constants.mjs [--check]     --check: writes nothing; exit status 1 when a file is not what would be written
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { ROOMS } from './constants-definition.mjs';
import { ROOT } from './step.mjs';

/** @typedef {import('./constants-definition.mjs').Room} Room */
/** @typedef {import('./constants-definition.mjs').NumberGroup} NumberGroup */

const ORIGIN = 'Written by scripts/constants.mjs: change scripts/constants-definition.mjs and run it.';
const COLUMNS = 100;

/**
 * The dpi folder is used without the sdk folder, so each of the two has its header.
 * @param {readonly Room[]} rooms
 * @returns {Map<string, string>} path in the repository -> text
 */
export function constantFiles(rooms = ROOMS) {
  /** @type {[string, string][]} */
  const typescript = rooms.map((room) => [`sdk/src/${room.file}`, typeScriptText(room)]);
  const loops = rooms.map((room) => ({
    ...room,
    constants: room.constants.filter(({ isOfClients }) => !isOfClients),
  }));
  return new Map([
    ...typescript,
    ['sdk/kernel/constants.h', cText(loops)],
    ['dpi/src/base/constants.h', cText(rooms)],
    ['cocotb-adapter/src/cocotbext/uscope/constants.py', pythonText(rooms)],
  ]);
}

/**
 * Files that are not what would be written.
 * @param {ReadonlyMap<string, string>} files
 * @param {(path: string) => string | null} readText null: there is no such file
 */
export function staleFiles(files, readText) {
  return [...files].filter(([path, text]) => readText(path) !== text).map(([path]) => path);
}

// -- TypeScript

/** @param {Room} room */
function typeScriptText({ doc, groups, constants }) {
  const objects = groups.map(
    ({ name, doc, values }) => `${jsDoc(doc)}export const ${name} = {
${Object.entries(values)
  .map(([key, value]) => `  ${key}: ${hex(value)},\n`)
  .join('')}} as const;
export type ${name} = (typeof ${name})[keyof typeof ${name}];
`,
  );
  const numbers = constants.map(
    ({ name, doc, value }) => `${doc ? jsDoc(doc) : ''}export const ${name} = ${number(value)};\n`,
  );
  return [`/**\n * ${doc}\n * ${ORIGIN}\n */\n`, ...objects.map((text) => `${text}\n`), ...numbers].join('');
}

/** @param {string} text */
function jsDoc(text) {
  const lines = wrap(text, COLUMNS);
  return lines.length === 1
    ? `/** ${text} */\n`
    : `/**\n${lines.map((line) => ` * ${line}\n`).join('')} */\n`;
}

// -- C

/** @param {readonly Room[]} rooms */
function cText(rooms) {
  const groups = rooms.flatMap((room) => room.groups);
  const constants = rooms.flatMap((room) => room.constants);
  const enums = groups.map(
    ({ prefix, doc, values }) => `${cComment(doc)}enum {
${Object.entries(values)
  .map(([key, value]) => `    ${prefix}_${key} = ${hex(value)},\n`)
  .join('')}};
`,
  );
  const numbers = constants.map(
    ({ name, doc, value }) => `${doc ? `    /* ${doc} */\n` : ''}    ${name} = ${number(value)},\n`,
  );
  return `/* SPDX-License-Identifier: Apache-2.0 */
${cComment(ORIGIN)}#ifndef USCOPE_CONSTANTS_H
#define USCOPE_CONSTANTS_H

${enums.join('\n')}
enum {
${numbers.join('')}};

#endif
`;
}

/** @param {string} text */
function cComment(text) {
  const lines = wrap(text, COLUMNS);
  return lines.length === 1 ? `/* ${text} */\n` : `/*\n${lines.map((line) => ` * ${line}\n`).join('')} */\n`;
}

// -- Python

/** @param {readonly Room[]} rooms */
function pythonText(rooms) {
  const groups = rooms.flatMap((room) => room.groups);
  const constants = rooms.flatMap((room) => room.constants);
  const names = groups.map(
    ({ prefix, doc, values }) =>
      `${pythonComment(doc)}${Object.entries(values)
        .map(([key, value]) => `${prefix}_${key} = ${hex(value)}\n`)
        .join('')}`,
  );
  const classes = groups.filter((group) => group.isEnumClass).map(pythonClass);
  const numbers = constants.map(
    ({ name, doc, value }) => `${doc ? pythonComment(doc) : ''}${name} = ${number(value)}\n`,
  );
  return `"""
Numbers of the format and of the bridge protocol.
${ORIGIN}
"""

from __future__ import annotations

from enum import IntEnum

${names.join('\n')}
${numbers.join('')}
${classes.join('\n')}`;
}

/** @param {NumberGroup} group */
function pythonClass({ name, doc, values }) {
  const members = Object.entries(values).map(([key, value]) => `    ${key} = ${hex(value)}\n`);
  return `\nclass ${name}(IntEnum):\n    """${doc}"""\n\n${members.join('')}`;
}

/** @param {string} text */
function pythonComment(text) {
  return wrap(text, COLUMNS)
    .map((line) => `#: ${line}\n`)
    .join('');
}

// -- all

/**
 * Small numbers in two hexadecimal digits: most of them name something.
 * @param {number} value
 */
function hex(value) {
  return `0x${value.toString(16).padStart(2, '0')}`;
}

/**
 * What is larger than a few megabytes is a magic number.
 * @param {number} value
 */
function number(value) {
  return value > 0xff_ffff ? hex(value) : String(value);
}

/**
 * @param {string} text
 * @param {number} columns
 * @returns {string[]}
 */
function wrap(text, columns) {
  /** @type {string[]} */
  const lines = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > columns) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** @param {string} path */
function readInRepository(path) {
  try {
    return readFileSync(join(ROOT, path), 'utf8');
  } catch {
    return null;
  }
}

function main() {
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
  const files = constantFiles();
  const stale = staleFiles(files, readInRepository);
  if (!values.check) {
    for (const path of stale) writeFileSync(join(ROOT, path), files.get(path) ?? '');
    console.log(`${files.size} files, ${stale.length} written`);
    return;
  }
  for (const path of stale) {
    console.error(
      `${path}: is not what scripts/constants-definition.mjs says; run: node scripts/constants.mjs`,
    );
  }
  console.log(`${files.size} files of constants, ${stale.length} stale`);
  process.exitCode = stale.length ? 1 : 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
