/**
 * The part of a URL after `#`: `v=1&view=…&c=100,200*`. Each part of the page has a key in it and says itself what its text means. What is
 * unknown, wrong or too long is left out: a link may come from anywhere.
 */

/** Of links written now. Links without one were typed by people, or come from the first viewer: what they leave out stays as the user has it. */
export const LINK_VERSION = 1;
const MAX_LENGTH = 256 * 1024;
const KEY = /^[a-z][a-z0-9]{0,15}$/;

export interface LinkPart<T> {
  readonly key: string;
  /** One text for each time that the key is in the link; none where there is nothing to say. */
  format(value: T): readonly string[];
  /** null: nothing in it can be used. @param texts at least one */
  parse(texts: readonly string[]): T | null;
}

export interface LinkContent {
  /** 0: none was given. */
  readonly version: number;
  readonly texts: ReadonlyMap<string, readonly string[]>;
  /** Why nothing of it is used. */
  readonly problem: string | null;
}

const nothing = (problem: string | null): LinkContent => ({ version: 0, texts: new Map(), problem });

export function parseLink(hash: string): LinkContent {
  if (hash.length > MAX_LENGTH)
    return nothing(`it is longer than ${MAX_LENGTH.toLocaleString('en')} characters`);
  const texts = new Map<string, string[]>();
  for (const [key, text] of new URLSearchParams(hash.replace(/^#/, ''))) {
    if (!KEY.test(key)) continue;
    const known = texts.get(key);
    if (known) known.push(text);
    else texts.set(key, [text]);
  }
  const version = Number(texts.get('v')?.[0] ?? 0);
  texts.delete('v');
  return { version: Number.isInteger(version) && version >= 0 ? version : 0, texts, problem: null };
}

/** What a link says of one part; null: nothing. */
export function readPart<T>({ texts }: LinkContent, part: LinkPart<T>): T | null {
  const found = texts.get(part.key);
  return found ? part.parse(found) : null;
}

/** @param parts key and texts of each part, in the order in which they are written */
export function formatLink(parts: Iterable<readonly [key: string, texts: readonly string[]]>): string {
  const written = [`v=${LINK_VERSION}`];
  for (const [key, texts] of parts) for (const text of texts) written.push(`${key}=${encoded(text)}`);
  return written.join('&');
}

/** As little as possible is written with %: only what a link or its reader would take for something else. */
function encoded(text: string): string {
  return encodeURIComponent(wellFormed(text))
    .replace(/%(2C|2F|3A|3B|40|24)/g, (code) => decodeURIComponent(code))
    .replaceAll('%20', '+');
}

/** Halves of characters cannot be written. */
export const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd');

/** Fields of one text; they may hold any character. */
export function joinFields(fields: readonly string[]): string {
  return fields.map((field) => field.replace(/[\\;]/g, '\\$&')).join(';');
}

export function splitFields(text: string): string[] {
  const fields = [''];
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === ';') fields.push('');
    else if (character === '\\' && at + 1 < text.length) fields[fields.length - 1] += text[++at]!;
    else fields[fields.length - 1] += character;
  }
  return fields;
}
