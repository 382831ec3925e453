// @ts-check
/** Reads the documented declarations of a C header, in the style of dpi/include/uscope.h. */
import { paragraphs } from './api-markdown.mjs';

/** @typedef {import('./api-markdown.mjs').Entry} Entry */
/** @typedef {import('./api-markdown.mjs').Section} Section */

/** A comment, a definition or another directive, or a declaration up to the semicolon outside braces. */
const TOKEN =
  /\/\*[\s\S]*?\*\/|^#define[ \t](?:[^\n\\]|\\\n|\\.)*|^#[^\n]*|^[A-Za-z_](?:[^;{]*\{[^}]*\})?[^;{]*;/gm;
const SECTION = /^\/\* -+ *(.*?) *-* *\*\/$/;
/** Not for callers: the guard, how functions are exported, and what makes the header C++. */
const PRIVATE = /^#define (USCOPE_H|USCOPE_API)\b|^extern "C"/;

/**
 * @param {string} header
 * @returns {{intro: string, sections: Section[]}} `intro`: the comment that begins with `@file`
 */
export function readCHeader(header) {
  /** @type {Section[]} */
  const sections = [{ title: '', items: [] }];
  let intro = '';
  let doc = '';
  for (const { 0: token, index } of withoutLinkage(header).matchAll(TOKEN)) {
    const { items } = sections[sections.length - 1];
    const title = SECTION.exec(token)?.[1];
    if (title !== undefined) sections.push({ title, items: [] });
    else if (token.startsWith('/**')) {
      const text = commentText(token);
      if (index < header.indexOf('#ifndef') && text.startsWith('@file'))
        intro = text.replace(/^@file \S+ /, '');
      else doc = text;
    } else if (token.startsWith('/*')) {
      if (!token.includes('SPDX')) items.push(commentText(token));
    } else {
      if (isPublic(token)) addDeclaration(items, token, doc);
      doc = '';
    }
  }
  return { intro, sections };
}

/** @param {string} header */
function withoutLinkage(header) {
  return header.replace(/^extern "C" \{$/gm, '').replace(/^\}$/gm, '');
}

/** @param {string} token */
function isPublic(token) {
  if (token.startsWith('#')) return token.startsWith('#define ') && !PRIVATE.test(token);
  return true;
}

/** @param {string} comment */
function commentText(comment) {
  const inner = comment.replace(/^\/\*+/, '').replace(/\*+\/$/, '');
  return paragraphs(inner.split('\n').map((line) => line.replace(/^\s*\* ?/, '')));
}

/**
 * Overloads by number (`uscope_event1` to `8`) without comments belong to the one before.
 * @param {(Entry | string)[]} items
 * @param {string} token
 * @param {string} doc
 */
function addDeclaration(items, token, doc) {
  const name = nameOf(token);
  const code = token.replaceAll('USCOPE_API ', '').replace(/[ \t]+\\\n/g, ' \\\n');
  const before = items[items.length - 1];
  if (doc === '' && typeof before === 'object' && stem(before.names[0]) === stem(name)) {
    before.names.push(name);
    before.code.push(code);
  } else {
    items.push({ names: [name], code: [code], doc });
  }
}

/** @param {string} name */
const stem = (name) => name.replace(/\d+$/, '#');

/** @param {string} declaration */
function nameOf(declaration) {
  const patterns = [/^#define (\w+)/, /\(\*(\w+)\)\(/, /^typedef[\s\S]*?(\w+);$/, /(\w+)\(/, /(\w+);$/];
  for (const pattern of patterns) {
    const name = pattern.exec(declaration)?.[1];
    if (name) return name;
  }
  throw new Error(`a declaration without a name: ${declaration}`);
}
