// @ts-check
/** Declarations with their comments, taken from a source by a reader for its language -> Markdown. */

/**
 * @typedef {object} Entry Declarations that one comment describes.
 * @property {string[]} names
 * @property {string[]} code One text per declaration.
 * @property {string} doc Paragraphs, separated by empty lines; '' when there is none.
 */

/**
 * @typedef {object} Section
 * @property {string} title '' for everything before the first one
 * @property {(Entry | string)[]} items Strings are paragraphs that belong to no declaration.
 */

/**
 * Each part ends with a line feed.
 * @param {string} intro
 * @param {Section[]} sections
 * @param {{language: string, level: number}} style `level`: of the sections' headings
 */
export function toMarkdown(intro, sections, style) {
  const parts = sections.filter(({ items }) => items.length > 0);
  const texts = parts.map((section) => sectionToMarkdown(section, style));
  return [...(intro ? [`${codeNames(intro)}\n`] : []), ...texts].join('\n');
}

/**
 * @param {Section} section
 * @param {{language: string, level: number}} style
 */
function sectionToMarkdown({ title, items }, { language, level }) {
  const heading = title ? `${'#'.repeat(level)} ${capitalized(title)}\n\n` : '';
  const texts = items.map((item) =>
    // A line before it, or it would read as the end of the entry above.
    typeof item === 'string' ? `---\n\n${codeNames(item)}\n` : entryToMarkdown(item, language, level + 1),
  );
  return heading + texts.join('\n');
}

/**
 * @param {Entry} entry
 * @param {string} language
 * @param {number} level
 */
function entryToMarkdown({ names, code, doc }, language, level) {
  const text = doc ? `\n${codeNames(doc)}\n` : '';
  const heading = `${'#'.repeat(level)} ${headingOf([...new Set(names)])}`;
  const declarations = [...new Set(code)].join('\n');
  return `${heading}\n\n\`\`\`${language}\n${declarations}\n\`\`\`\n${text}`;
}

/** @param {string[]} names */
function headingOf(names) {
  if (names.length <= 2) return names.join(', ');
  return `${names[0]} to ${names[names.length - 1]}`;
}

/** @param {string} text */
const capitalized = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/**
 * Lines of a comment -> Markdown: each paragraph on one line, lines that are set in by two or more as code.
 * @param {string[]} lines without the comment's own marks
 */
export function paragraphs(lines) {
  const blocks = lines
    .map((line) => line.trimEnd())
    .join('\n')
    .split(/\n{2,}/)
    .filter((block) => block.trim() !== '');
  return blocks.map(blockToMarkdown).join('\n\n');
}

/** @param {string} block */
function blockToMarkdown(block) {
  const lines = block.split('\n').filter((line) => line !== '');
  if (!lines.every((line) => line.startsWith('  '))) return lines.map((line) => line.trim()).join(' ');
  const indent = Math.min(...lines.map((line) => /^ */.exec(line)?.[0].length ?? 0));
  return `\`\`\`\n${lines.map((line) => line.slice(indent)).join('\n')}\n\`\`\``;
}

/**
 * Names of the API in backticks, wherever the comment has none: Markdown would take their `_` and `*` for emphasis.
 * @param {string} text
 */
function codeNames(text) {
  const pieces = text.split(/(```[\s\S]*?```|`[^`]*`)/);
  const name = /"[^"`]*"|\b(?:uscope|USCOPE)_\w*\*?(?:\.\w+)?(?:\(\))?/g;
  return pieces.map((piece) => (piece.startsWith('`') ? piece : piece.replace(name, '`$&`'))).join('');
}
