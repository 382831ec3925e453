// @ts-check
/**
 * Counts what makes comments and documents hard to read, as a ratchet: each count of scripts/words.json may only fall.
 *
 *     node scripts/check-words.mjs             exit status 1 when a count has risen
 *     node scripts/check-words.mjs --list KIND prints each place of a kind
 *     node scripts/check-words.mjs --update    writes the counts that have fallen; a risen one stays an error
 *
 * Commit subjects are counted from the commit `since` on. Without git nothing is counted; without that commit (a shallow clone), no subjects.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { ROOT } from './step.mjs';

/** @typedef {'fragments' | 'isNo' | 'longSentences' | 'longSubjects'} Kind */
/** @typedef {{kind: Kind, place: string, text: string}} Finding */

const RATCHET = join(ROOT, 'scripts/words.json');
/** @type {Record<Kind, string>} */
export const KINDS = {
  fragments:
    'comments that begin with a fragment ("Of …", "In which …", "By …", "As …", "Where …"): begin with the subject',
  isNo: '"is no": say "is not a", or what it is instead',
  longSentences: 'sentences over 35 words: one idea each',
  longSubjects: 'commit subjects over 72 characters: the reason belongs in the body',
};
const MOST_WORDS = 35;
const MOST_CHARACTERS = 72;
const FRAGMENT =
  /^(?:Of|By|As|Where|(?:In|On|At|To|From|With|For|After|Until|Under|Below|Behind) (?:which|what|whom|whose))\b/;
const IS_NO = /(?<!there )\b(?:is|are|was|were) no\b(?! (?:longer|more)\b)/gi;
const SOURCE = /\.(?:tsx?|mjs|c|h|hpp|py|svh?)$/;
const DOCUMENT = /\.md$/;
/** Written by programs, kept as other releases wrote it, or about these words. */
const NOT_OURS =
  /^(?:docs\/reference\/api|test\/vectors|test\/compatibility\/\d|package-lock|scripts\/check-words)/;

/**
 * Comments of a source file, each as one text. Lines decide: a string that looks like a comment counts as one.
 * @param {string} path @param {string} text
 * @returns {{line: number, text: string}[]}
 */
export function commentsOf(path, text) {
  const comments = path.endsWith('.py')
    ? text.matchAll(/"""([\s\S]*?)"""|((?:^|(?<=\s))# .*(?:\n[ \t]*# .*)*)/gm)
    : text.matchAll(
        /^[ \t]*\/\*+([\s\S]*?)\*\/|((?:^|(?<=\s))\/\/ .*(?:\n[ \t]*\/\/ .*)*)|(?<=\s)\/\*+ (.*?)\*\//gm,
      );
  return [...comments].map(({ 1: block, 2: lines, 3: inline, index }) => ({
    line: text.slice(0, index).split('\n').length,
    text: (block ?? lines ?? inline ?? '').replace(/^[ \t]*(?:\*(?!\*)|\/\/|#) ?/gm, '').trim(),
  }));
}

/** Sentences: paragraphs, items of lists, cells of tables and tags end one, too. @param {string} text */
export function sentencesOf(text) {
  return text
    .replace(/^```[\s\S]*?^```/gm, '\n\n')
    .replace(/^(?: {4}|\t).*$/gm, '\n')
    .replace(/^#+ .*$|<!--[\s\S]*?-->/gm, '\n')
    .split(/\n\s*\n|\n\s*(?=[-*|@]|\d+\.)|\||[.!?](?=["')*`]*(?:\s|$))|<br>|\s@\w+/)
    .map((sentence) =>
      sentence
        .replace(/\]\([^)]*\)/g, ']')
        .replace(/`[^`]*`/g, 'code')
        .trim(),
    )
    .filter(Boolean);
}

/** @param {string} path @param {string} text @returns {Finding[]} */
export function findingsOf(path, text) {
  /** @type {(kind: Kind, line: number, text: string) => Finding} */
  const at = (kind, line, text) => ({ kind, place: `${path}:${line}`, text });
  const isDocument = DOCUMENT.test(path);
  const texts = isDocument ? [{ line: 1, text }] : commentsOf(path, text);
  const long = texts.flatMap(({ line, text }) => {
    const sentences = sentencesOf(text).filter((sentence) => sentence.split(/\s+/).length > MOST_WORDS);
    return sentences.map((sentence) => at('longSentences', line, sentence));
  });
  const fragments = isDocument ? [] : texts.filter(({ text }) => FRAGMENT.test(text));
  const isNo = text
    .split('\n')
    .flatMap((line, index) => Array.from(line.matchAll(IS_NO), () => at('isNo', index + 1, line.trim())));
  return [
    ...long,
    ...fragments.map(({ line, text }) => at('fragments', line, text.split('\n', 1)[0])),
    ...isNo,
  ];
}

/** @param {readonly string[]} subjects */
export const longSubjects = (subjects) => subjects.filter((subject) => [...subject].length > MOST_CHARACTERS);

/**
 * What rose and what fell against the counts that are written down.
 * @param {Record<string, number>} written @param {Record<string, number>} counted
 */
export const compare = (written, counted) => ({
  risen: Object.keys(counted).filter((kind) => counted[kind] > (written[kind] ?? 0)),
  fallen: Object.keys(counted).filter((kind) => counted[kind] < (written[kind] ?? 0)),
});

/** @param {string[]} args @returns {string[] | null} lines; null where git or what it is asked for is not there */
function git(...args) {
  try {
    const options = { cwd: ROOT, encoding: /** @type {const} */ ('utf8'), maxBuffer: 1 << 26 };
    return execFileSync('git', args, { ...options, stdio: ['ignore', 'pipe', 'ignore'] })
      .split('\n')
      .filter(Boolean);
  } catch {
    return null;
  }
}

function main() {
  const { values } = parseArgs({ options: { list: { type: 'string' }, update: { type: 'boolean' } } });
  const ratchet = JSON.parse(readFileSync(RATCHET, 'utf8'));
  const files = git('ls-files');
  if (files === null) return console.log('words are not counted: this is not a git repository');
  const ours = files.filter((path) => (SOURCE.test(path) || DOCUMENT.test(path)) && !NOT_OURS.test(path));
  const findings = ours
    .filter((path) => existsSync(join(ROOT, path)))
    .flatMap((path) => findingsOf(path, readFileSync(join(ROOT, path), 'utf8')));
  const subjects = git('log', '--no-merges', '--format=%s', `${ratchet.since}..HEAD`);
  if (subjects === null) console.log('commit subjects are not counted: their first commit is not here');
  for (const text of longSubjects(subjects ?? []))
    findings.push({ kind: 'longSubjects', place: 'commit', text });

  const counted = Object.fromEntries(
    Object.keys(KINDS).map((kind) => [kind, findings.filter((found) => found.kind === kind).length]),
  );
  if (subjects === null) delete counted.longSubjects;
  for (const { kind, place, text } of findings) if (kind === values.list) console.log(`${place}: ${text}`);
  const { risen, fallen } = compare(ratchet.most, counted);
  for (const kind of Object.keys(counted))
    console.log(`${kind}: ${counted[kind]} of at most ${ratchet.most[kind]}`);
  for (const kind of risen)
    console.error(`${kind} rose: ${KINDS[/** @type {Kind} */ (kind)]} (--list ${kind} names all)`);
  if (values.update) {
    for (const kind of fallen) ratchet.most[kind] = counted[kind];
    writeFileSync(RATCHET, `${JSON.stringify(ratchet, null, 2)}\n`);
  }
  process.exitCode = risen.length > 0 ? 1 : 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
