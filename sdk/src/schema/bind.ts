/** Variables in names, periods and DUT values -> text. Ids, and what refers to what, never depend on them. */
import type { ErrorPlace } from '../base/errors.js';
import type { ClockDef, DutProperties, FieldDef, Schema } from '../format/types.js';
import { MAX_STRING_CHARS } from './limits.js';
import { bindText } from './names.js';
import { parsePeriod } from './period.js';
import type { Places, Problems } from './problems.js';
import type { SchemaSource } from './read.js';
import { didYouMean, listed } from './suggest.js';
import { type SchemaWork, tooLong } from './work.js';

/**
 * @param given values that override the defaults of the schema text
 * @throws UscopeError SCHEMA_LIMIT before a text becomes longer than the format holds, or all together more `work` than allowed
 */
export function bindVariables(
  source: SchemaSource,
  given: Readonly<Record<string, string>>,
  problems: Problems,
  work: SchemaWork,
): { schema: Schema; dut: DutProperties } {
  const variables = new Map([...source.variables, ...Object.entries(given)]);
  return new Binder(variables, source.places, problems, work).bind(source);
}

class Binder {
  private unbound = 0;

  constructor(
    private readonly variables: ReadonlyMap<string, string>,
    private readonly places: Places,
    private readonly problems: Problems,
    private readonly work: SchemaWork,
  ) {}

  bind({ schema, dut, periods }: SchemaSource): { schema: Schema; dut: DutProperties } {
    const named = <T extends { readonly name: string }>(def: T): T => this.named(def);
    const fields = (defs: readonly FieldDef[]): FieldDef[] => defs.map(named);
    return {
      schema: {
        clocks: schema.clocks.map((def) => this.clock(def, periods.get(def))),
        scopes: schema.scopes.map((def) => {
          const protocol = def.protocol === null ? null : this.text(def.protocol, def, 'protocol');
          return this.copied(def, { ...def, name: this.text(def.name, def), protocol });
        }),
        enums: schema.enums.map((def) =>
          this.copied(def, { name: this.text(def.name, def), values: def.values.map(named) }),
        ),
        storages: schema.storages.map((def) =>
          this.copied(def, {
            ...def,
            name: this.text(def.name, def),
            fields: fields(def.fields),
            properties: fields(def.properties),
          }),
        ),
        events: schema.events.map((def) =>
          this.copied(def, { ...def, name: this.text(def.name, def), fields: fields(def.fields) }),
        ),
        summaryFields: schema.summaryFields.map(named),
      },
      dut: dut.map((property) =>
        this.copied(property, [
          this.text(property[0], property),
          this.text(property[1], property, 'value'),
        ] as const),
      ),
    };
  }

  /** @param period its text, where that holds variables */
  private clock(def: ClockDef, period: string | undefined): ClockDef {
    if (period === undefined) return this.named(def);
    const { unbound } = this;
    const text = this.text(period, def, 'period');
    const parsed = parsePeriod(text);
    if ('ps' in parsed)
      return this.copied(def, { ...def, name: this.text(def.name, def), periodPs: parsed.ps });
    // What has no value is one problem, not two.
    if (unbound === this.unbound)
      this.problems.add(
        'SCHEMA_RANGE',
        `clock "${def.name}": ${parsed.problem}`,
        this.places.of(def, 'period'),
      );
    return this.named(def);
  }

  private named<T extends { readonly name: string }>(def: T): T {
    return this.copied(def, { ...def, name: this.text(def.name, def) });
  }

  private copied<T extends object>(part: object, copy: T): T {
    this.places.move(part, copy);
    return copy;
  }

  private text(text: string, part: object, key = ''): string {
    const place = (): ErrorPlace => this.places.of(part, key);
    let counted = 0;
    return bindText(
      text,
      this.variables,
      (placeholder, name) => {
        const detail = name === undefined ? malformed(placeholder) : this.unknown(name);
        this.problems.add('SCHEMA_VARIABLE', detail, place());
        // A separate name, so that nothing else is found wrong with it.
        return `unbound_${this.unbound++}`;
      },
      (length) => {
        if (length > MAX_STRING_CHARS) throw tooLong(length, place());
        this.work.takeChars(length - counted, place);
        counted = length;
      },
    );
  }

  private unknown(name: string): string {
    const known = [...this.variables.keys()];
    const others = known.length > 0 ? ` Variables are ${listed(known)}.` : '';
    return `the variable "${name}" has no value; give it one, or a default under "variables".${didYouMean(name, known)}${others}`;
  }
}

function malformed(placeholder: string): string {
  return `"${placeholder.slice(0, 80)}" is not a variable; write \${name}, or $\${ for a literal \${`;
}
