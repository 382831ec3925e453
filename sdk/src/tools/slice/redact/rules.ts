/** Rules of a redaction (docs/reference/cli/slice.md#redaction): what may not be in a trace that others see. YAML or JSON. */
import type { Node } from 'yaml';
import type { ErrorPlace } from '../../../base/errors.js';
import { isName, NAME_RULE } from '../../../schema/names.js';
import { NodeReader } from '../../../schema/node-reader.js';
import { Problems } from '../../../schema/problems.js';
import { SchemaWork } from '../../../schema/work.js';
import { type Entry, YamlSource } from '../../../schema/yaml-source.js';

export interface ScopeRule {
  readonly path: string;
  /** Null: the scope is dropped with all below it. */
  readonly name: string | null;
  readonly place: ErrorPlace;
}

export interface TextRule {
  readonly match: RegExp;
  /** Null: each text gets a made-up one. */
  readonly replace: string | null;
}

/** Addresses from `from` up to `until`, exclusive. */
export interface PcRule {
  readonly from: bigint;
  readonly until: bigint;
  /** Where `from` comes to lie; null: all become 0. */
  readonly base: bigint | null;
}

export interface ValueRule {
  /** `core0/regs.value`: field or property of a storage, or field of an event. */
  readonly path: string;
  readonly how: 'zero' | 'scramble';
  readonly place: ErrorPlace;
}

export interface RedactionRules {
  /** Null: another one each time. */
  readonly key: string | null;
  readonly scopes: readonly ScopeRule[];
  readonly texts: readonly TextRule[];
  readonly pcs: readonly PcRule[];
  readonly pcFields: readonly string[];
  readonly values: readonly ValueRule[];
}

const KEYS = ['redact', 'key', 'scopes', 'texts', 'pcs', 'pc-fields', 'values'];
const VERSION = '1';
const DROP = 'drop';
/** Fields that hold addresses of code by the conventions of `cpu` and `rvfi`. */
export const PC_FIELDS: readonly string[] = ['pc', 'epc', 'target', 'tval', 'pc_rdata', 'pc_wdata'];
const ADDRESS = /^(0x[0-9a-fA-F]{1,16}|[0-9]{1,20})$/;
const MAX_U64 = (1n << 64n) - 1n;

/** @throws UscopeError SCHEMA_*, with line and column */
export function readRules(text: string, file: string): RedactionRules {
  const problems = new Problems();
  const rules = problems.collect(() => {
    const source = YamlSource.parse(text, file, problems, new SchemaWork());
    return source ? new RulesReader(new NodeReader(source, problems), problems).read() : undefined;
  });
  if (!rules && problems.count === 0)
    problems.add('SCHEMA_MISSING', 'the rules are empty; they begin with redact: 1', { file });
  problems.throwIfAny();
  return rules!;
}

class RulesReader {
  constructor(
    private readonly nodes: NodeReader,
    private readonly problems: Problems,
  ) {}

  read(): RedactionRules | undefined {
    const { root } = this.nodes.source;
    const keys = this.nodes.fixedKeys(root, 'the rules', KEYS, false);
    if (!keys || !root) return undefined;
    const version = keys.get('redact');
    if (!version || this.text(version, '"redact"') !== VERSION)
      this.nodes.missing('the rules', 'redact', 'redact: 1', version?.keyNode ?? root);
    const key = keys.get('key');
    return {
      key: (key && this.text(key, '"key"')) ?? null,
      scopes: this.nodes.entriesOf(keys.get('scopes'), '"scopes"').flatMap((entry) => this.scope(entry)),
      texts: this.items(keys.get('texts'), '"texts"').flatMap((node) => this.textRule(node)),
      pcs: this.items(keys.get('pcs'), '"pcs"').flatMap((node) => this.pcRule(node)),
      pcFields: keys.has('pc-fields')
        ? this.items(keys.get('pc-fields'), '"pc-fields"').flatMap((node) => this.plain(node, 'a field'))
        : PC_FIELDS,
      values: this.nodes.entriesOf(keys.get('values'), '"values"').flatMap((entry) => this.value(entry)),
    };
  }

  private scope(entry: Entry): ScopeRule[] {
    const name = this.text(entry, `scope "${entry.key}"`);
    if (name === undefined) return [];
    const place = this.nodes.place(entry.keyNode);
    if (name === DROP) return [{ path: entry.key, name: null, place }];
    if (isName(name)) return [{ path: entry.key, name, place }];
    this.wrong(
      'SCHEMA_NAME',
      `"${name}" is not a name for scope "${entry.key}": drop, or ${NAME_RULE}`,
      entry.value,
    );
    return [];
  }

  private textRule(node: Node): TextRule[] {
    const keys = this.nodes.fixedKeys(node, 'a rule of "texts"', ['match', 'replace'], false);
    if (!keys) return [];
    const match = keys.get('match');
    const replace = keys.get('replace');
    const pattern = match && this.text(match, '"match"');
    if (!match || pattern === undefined) {
      this.nodes.missing('a rule of "texts"', 'match', 'a regular expression', node);
      return [];
    }
    try {
      const expression = new RegExp(pattern, 'gu');
      if (expression.test(''))
        this.wrong(
          'SCHEMA_RANGE',
          `"${pattern}" matches an empty text: it would match everywhere`,
          match.value,
        );
      return [{ match: expression, replace: (replace && this.text(replace, '"replace"')) ?? null }];
    } catch (error) {
      this.wrong(
        'SCHEMA_TYPE',
        `"${pattern}" is not a regular expression: ${(error as Error).message}`,
        match.value,
      );
      return [];
    }
  }

  private pcRule(node: Node): PcRule[] {
    const keys = this.nodes.fixedKeys(node, 'a rule of "pcs"', ['from', 'until', 'base'], false);
    if (!keys) return [];
    const from = this.address(keys.get('from'), 'from', node);
    const until = this.address(keys.get('until'), 'until', node);
    const base = keys.has('base') ? this.address(keys.get('base'), 'base', node) : null;
    if (from === undefined || until === undefined || base === undefined) return [];
    if (until <= from) this.wrong('SCHEMA_RANGE', '"until" must lie above "from"', keys.get('until')!.value);
    if (base !== null && base + (until - from) > MAX_U64 + 1n)
      this.wrong('SCHEMA_RANGE', 'the addresses would end above 2^64', keys.get('base')!.value);
    return [{ from, until, base }];
  }

  private value(entry: Entry): ValueRule[] {
    const how = this.text(entry, `value "${entry.key}"`);
    const place = this.nodes.place(entry.keyNode);
    if (how === 'zero' || how === 'scramble') return [{ path: entry.key, how, place }];
    if (how !== undefined)
      this.wrong(
        'SCHEMA_TYPE',
        `"${how}" is nothing that can be done to a value; it is zero or scramble`,
        entry.value,
      );
    return [];
  }

  private address(entry: Entry | undefined, key: string, node: Node): bigint | undefined {
    if (!entry) {
      this.nodes.missing('a rule of "pcs"', key, 'an address such as 0x80000000', node);
      return undefined;
    }
    const text = this.text(entry, `"${key}"`);
    if (text === undefined) return undefined;
    const value = ADDRESS.test(text) ? BigInt(text) : MAX_U64 + 1n;
    // The end may be that of the address space.
    if (value <= (key === 'until' ? MAX_U64 + 1n : MAX_U64) && ADDRESS.test(text)) return value;
    this.wrong('SCHEMA_TYPE', `"${key}" must be an address of at most 64 bits, not "${text}"`, entry.value);
    return undefined;
  }

  private text(entry: Entry, what: string): string | undefined {
    return this.nodes.text(entry.value, entry.keyNode, what);
  }

  private items(entry: Entry | undefined, what: string): Node[] {
    if (!entry) return [];
    const items = this.nodes.source.items(entry.value);
    if (!items) this.wrong('SCHEMA_TYPE', `${what} must be a list`, entry.value ?? entry.keyNode);
    return (items ?? []).filter((node) => node !== null);
  }

  private plain(node: Node, what: string): string[] {
    const text = this.nodes.text(node, node, what);
    return text === undefined ? [] : [text];
  }

  private wrong(
    code: 'SCHEMA_NAME' | 'SCHEMA_RANGE' | 'SCHEMA_TYPE',
    detail: string,
    node: Node | null,
  ): void {
    this.problems.add(code, detail, this.nodes.place(node));
  }
}
