/**
 * YAML (or JSON) text -> nodes that know their place. Every scalar is text here: what a plain `1` or `null` means, the grammar
 * decides where it is, so that an enum may have a value called `null` and a DUT version stays `1.10`.
 */
import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  parseDocument,
  Scalar,
  type YAMLError,
} from 'yaml';
import type { ErrorPlace } from '../base/errors.js';
import { MAX_STRING_CHARS, MAX_TEXT_BYTES, utf8Length } from './limits.js';
import type { Problems } from './problems.js';
import { type SchemaWork, tooLong } from './work.js';

/** A schema needs about ten levels. */
const MAX_NESTING = 1000;

/** One entry of a mapping. */
export interface Entry {
  readonly key: string;
  readonly keyNode: Node;
  /** null: nothing follows the colon. */
  readonly value: Node | null;
}

export class YamlSource {
  private constructor(
    /** null: the text is empty. */
    readonly root: Node | null,
    private readonly lines: LineCounter,
    private readonly targets: ReadonlyMap<Node, Node>,
    private readonly problems: Problems,
    private readonly file: string | undefined,
    private readonly work: SchemaWork,
  ) {}

  /**
   * @returns undefined when the text is not YAML; `problems` then say why.
   * @throws UscopeError SCHEMA_LIMIT when it is more `work` than allowed
   */
  static parse(
    text: string,
    file: string | undefined,
    problems: Problems,
    work: SchemaWork,
  ): YamlSource | undefined {
    const start: ErrorPlace = { file, line: 1, column: 1 };
    if (!checkSize(text, start, problems, work)) return undefined;
    const lineCounter = new LineCounter();
    const placeAt = (offset: number): ErrorPlace => {
      const { line, col } = lineCounter.linePos(offset);
      return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
    };
    try {
      const document = parseDocument(text, {
        schema: 'failsafe',
        version: '1.2',
        uniqueKeys: false,
        prettyErrors: false,
        logLevel: 'error',
        lineCounter,
      });
      const failures = [...document.errors, ...document.warnings];
      for (const error of failures) problems.add('SCHEMA_SYNTAX', syntaxDetail(error), placeAt(error.pos[0]));
      if (failures.length > 0) return undefined;
      const root = document.contents as Node | null;
      return new YamlSource(root, lineCounter, findTargets(root), problems, file, work);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      problems.add('SCHEMA_LIMIT', 'the text is nested too deeply to be a schema', start);
      return undefined;
    }
  }

  place(node: Node | null | undefined): ErrorPlace {
    const range = node?.range;
    if (!range) return { file: this.file, line: 1, column: 1 };
    const { line, col } = this.lines.linePos(range[0]);
    return { file: this.file, line: Math.max(line, 1), column: Math.max(col, 1) };
  }

  /**
   * The entries of a mapping in file order. An empty value counts as an empty mapping. Reports a node of another kind
   * (returns undefined then), keys that are not text, and keys that are twice (the first one counts).
   * @param what names the mapping in messages, such as `storage "rob"`
   */
  entries(node: Node | null, what: string, allowEmpty = true): Entry[] | undefined {
    const map = this.resolve(node);
    if (map === undefined) return undefined;
    if (allowEmpty && isNothing(map)) return [];
    if (!isMap(map)) {
      this.problems.add('SCHEMA_TYPE', `${what} must be a mapping, not ${kindOf(map)}`, this.place(map));
      return undefined;
    }
    const seen = new Map<string, Node>();
    const entries: Entry[] = [];
    for (const pair of map.items) {
      this.spend(map);
      const entry = this.entry(pair.key as Node | null, pair.value as Node | null, what, seen);
      if (entry) entries.push(entry);
    }
    return entries;
  }

  private entry(
    keyNode: Node | null,
    value: Node | null,
    what: string,
    seen: Map<string, Node>,
  ): Entry | undefined {
    const node = this.resolve(keyNode);
    if (!node || !isScalar(node) || typeof node.value !== 'string') {
      this.problems.add(
        'SCHEMA_TYPE',
        `a key of ${what} is not text but ${kindOf(node ?? null)}`,
        this.place(keyNode),
      );
      return undefined;
    }
    const key = this.taken(node.value, keyNode);
    const first = seen.get(key);
    if (first) {
      const line = this.place(first).line;
      this.problems.add(
        'SCHEMA_DUPLICATE',
        `"${key}" is in ${what} twice; the first is on line ${line}`,
        this.place(keyNode),
      );
      return undefined;
    }
    seen.set(key, keyNode!);
    return { key, keyNode: keyNode!, value };
  }

  /** The items of a sequence, or undefined when the node is none (nothing is reported). */
  items(node: Node | null): (Node | null)[] | undefined {
    const seq = this.resolve(node);
    if (!isSeq(seq)) return undefined;
    return seq.items.map((item) => {
      this.spend(seq);
      return item as Node | null;
    });
  }

  /**
   * Text of a scalar that is not empty, or undefined (nothing is reported).
   * @param nullIsText the word `null` is a name here
   */
  scalar(
    node: Node | null,
    nullIsText = false,
  ): { readonly text: string; readonly plain: boolean } | undefined {
    const scalar = this.resolve(node);
    if (!isScalar(scalar) || (isNothing(scalar) && !(nullIsText && scalar.value === 'null')))
      return undefined;
    return { text: this.taken(String(scalar.value), node), plain: scalar.type === Scalar.PLAIN };
  }

  isNothing(node: Node | null): boolean {
    return isNothing(this.resolve(node) ?? null);
  }

  isMap(node: Node | null): boolean {
    return isMap(this.resolve(node));
  }

  /** What is there, for messages: `a list`, `"abc"`. */
  describe(node: Node | null): string {
    return kindOf(this.resolve(node) ?? null);
  }

  private resolve(node: Node | null): Node | null | undefined {
    if (!isAlias(node)) return node;
    const target = this.targets.get(node);
    if (!target)
      this.problems.add(
        'SCHEMA_SYNTAX',
        `the alias *${(node as Alias).source} has no anchor`,
        this.place(node),
      );
    return target;
  }

  private spend(node: Node): void {
    this.work.takeEntry(() => this.place(node));
  }

  private taken(text: string, node: Node | null): string {
    if (text.length > MAX_STRING_CHARS) throw tooLong(text.length, this.place(node));
    this.work.takeChars(text.length, () => this.place(node));
    return text;
  }
}

/** Nothing, written as such: an empty value, `~` or `null`. */
function isNothing(node: Node | null): boolean {
  if (node === null) return true;
  if (!isScalar(node) || node.type !== Scalar.PLAIN) return false;
  return node.value === '' || node.value === '~' || node.value === 'null';
}

function kindOf(node: Node | null): string {
  if (isNothing(node)) return 'empty';
  if (isMap(node)) return 'a mapping';
  if (isSeq(node)) return 'a list';
  if (!isScalar(node)) return 'an alias';
  const text = String(node.value);
  const quoted = node.type === Scalar.PLAIN ? '' : 'the quoted text ';
  return `${quoted}"${text.length <= 40 ? text : `${text.slice(0, 40)}...`}"`;
}

function checkSize(text: string, start: ErrorPlace, problems: Problems, work: SchemaWork): boolean {
  if (text.length > MAX_TEXT_BYTES || utf8Length(text) > MAX_TEXT_BYTES) {
    problems.add('SCHEMA_LIMIT', `the schema text is larger than ${MAX_TEXT_BYTES} bytes`, start);
    return false;
  }
  let offset = 0;
  const placeAt = (): ErrorPlace => placeOf(text, offset, start.file);
  const nesting = new Nesting();
  for (const token of new Lexer().lex(text)) {
    if (nesting.take(token) > MAX_NESTING) {
      problems.add('SCHEMA_LIMIT', 'the text is nested too deeply to be a schema', start);
      return false;
    }
    if (token.length > 0) work.takeToken(token, placeAt);
    if (!LEXER_MARKS.has(token)) offset += token.length;
  }
  return true;
}

/** Tokens that are not in the text: the lexer says by them where a document begins, a scalar follows, a flow collection is cut off. */
const LEXER_MARKS: ReadonlySet<string> = new Set(['\u0002', '\u001f', '\u0018']);

function placeOf(text: string, offset: number, file: string | undefined): ErrorPlace {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { file, line: before.split('\n').length, column: offset - lineStart + 1 };
}

/**
 * How deep a text is nested, at least, seen from its tokens alone. The parser descends once for each level, and where its stack ends not every
 * end is a RangeError: a regular expression compiled there takes the whole process with it.
 */
class Nesting {
  private brackets = 0;
  private marks = 0;
  private isLineStart = true;

  take(token: string): number {
    const isIndent = this.isLineStart && /^ +$/.test(token);
    this.isLineStart = token.endsWith('\n');
    if (this.isLineStart) this.marks = 0;
    else if (isIndent) return token.length + this.brackets;
    else if (token === '[' || token === '{') this.brackets++;
    else if (token === ']' || token === '}') this.brackets = Math.max(0, this.brackets - 1);
    else if (this.brackets === 0 && (token === '-' || token === '?')) this.marks++;
    return this.brackets + this.marks;
  }
}

function syntaxDetail(error: YAMLError): string {
  switch (error.code) {
    case 'MULTIPLE_DOCS':
      return 'a second document begins here; keep one schema per file';
    case 'TAB_AS_INDENT':
      return 'a tab indents this line; YAML wants spaces';
    case 'TAG_RESOLVE_FAILED':
      return 'a schema has no tags; remove this one';
    case 'RESOURCE_EXHAUSTION':
      return 'the text is nested too deeply to be a schema';
    case 'BAD_INDENT':
      return 'this line is indented too little, or a { or [ above is not closed';
    case 'BLOCK_AS_IMPLICIT_KEY':
      return 'a mapping cannot begin here; check the indentation and quote text that holds ": "';
    default:
      return error.message.replace(/\s+/g, ' ');
  }
}

/** For each alias the node its anchor marks: the last one of that name before it. */
function findTargets(root: Node | null): Map<Node, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Node, Node>();
  const walk = (node: unknown): void => {
    if (isAlias(node)) {
      const target = anchors.get(node.source);
      if (target) targets.set(node, target);
      return;
    }
    if (!isScalar(node) && !isMap(node) && !isSeq(node)) return;
    if (node.anchor) anchors.set(node.anchor, node);
    if (isSeq(node)) for (const item of node.items) walk(item);
    if (isMap(node)) {
      for (const pair of node.items) {
        walk(pair.key);
        walk(pair.value);
      }
    }
  };
  walk(root);
  return targets;
}
