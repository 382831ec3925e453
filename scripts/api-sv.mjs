// @ts-check
/** Reads the documented declarations of SystemVerilog files, in the style of sv/. */
import { paragraphs } from './api-markdown.mjs';

/** @typedef {import('./api-markdown.mjs').Entry} Entry */
/** @typedef {import('./api-markdown.mjs').Section} Section */

const SECTION = /^\/\/ -- (.*)$/;
/** What a declaration begins with; it ends with the line that has the semicolon. */
const DECLARATION =
  /^(?:import\s+"DPI-C"|export\s+"DPI-C"|(?:virtual\s+|static\s+|extern\s+)*(?:function|task)\b|localparam\b|parameter\b|typedef\b|(?:virtual\s+)?class\b)/;
const IMPORT = /^import\s+"DPI-C"\s+(?:context\s+|pure\s+)?/;

/**
 * Separate comments before the first section introduce the file.
 * @param {string} source
 * @returns {{intro: string, sections: Section[]}}
 */
export function readSystemVerilog(source) {
  /** @type {Section[]} */
  const sections = [{ title: '', items: [] }];
  const lines = source.split('\n');
  let intro = '';
  /** @type {string[]} */
  let comment = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at].trim();
    const { items } = sections[sections.length - 1];
    const title = SECTION.exec(line)?.[1];
    if (title !== undefined) {
      sections.push({ title, items: [] });
      comment = [];
    } else if (line.startsWith('//')) {
      if (!line.includes('SPDX')) comment.push(line.replace(/^\/\/ ?/, ''));
    } else if (DECLARATION.test(line)) {
      const end = endOf(lines, at);
      addDeclaration(items, lines.slice(at, end + 1), paragraphs(comment));
      comment = [];
      at = endOfBody(lines, end, line);
    } else if (comment.length > 0 && !/^(?:`|\/\*)/.test(line)) {
      if (intro === '' && items.length === 0) intro = paragraphs(comment);
      comment = [];
    }
  }
  return { intro, sections };
}

/**
 * @param {string[]} lines
 * @param {number} start
 */
function endOf(lines, start) {
  let at = start;
  while (at < lines.length - 1 && !lines[at].includes(';')) at++;
  return at;
}

/**
 * The last line of a function's body; that of the declaration itself where there is none.
 * @param {string[]} lines
 * @param {number} end of the declaration
 * @param {string} first line of the declaration
 */
function endOfBody(lines, end, first) {
  if (!/^(?:virtual\s+|static\s+)*(?:function|task)\b/.test(first)) return end;
  const close = /\btask\b/.test(first) ? /^\s*endtask\b/ : /^\s*endfunction\b/;
  const at = lines.findIndex((line, index) => index > end && close.test(line));
  return at === -1 ? end : at;
}

/**
 * @param {(Entry | string)[]} items
 * @param {string[]} lines
 * @param {string} doc
 */
function addDeclaration(items, lines, doc) {
  const code = unindented(lines).replace(IMPORT, '');
  const name = nameOf(code);
  const before = items[items.length - 1];
  const stem = (/** @type {string} */ text) => text.replace(/\d+$/, '#');
  if (doc === '' && typeof before === 'object' && stem(before.names[0]) === stem(name)) {
    before.names.push(name);
    before.code.push(code);
  } else {
    items.push({ names: [name], code: [code], doc });
  }
}

/** @param {string[]} lines */
function unindented(lines) {
  const indent = /^\s*/.exec(lines[0])?.[0].length ?? 0;
  return lines.map((line) => line.slice(indent).trimEnd()).join('\n');
}

/** @param {string} code */
function nameOf(code) {
  const patterns = [
    /^(?:\w+\s+)*?(?:function|task)\b[^(;]*?(\w+)\s*[(;]/,
    /\bclass\s+(\w+)/,
    /(\w+)\s*=/,
    /(\w+)\s*;/,
  ];
  for (const pattern of patterns) {
    const name = pattern.exec(code)?.[1];
    if (name) return name;
  }
  throw new Error(`a declaration without a name: ${code}`);
}
