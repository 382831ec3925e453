/** A column of lists of structs: one pair of offset and length for each row, and the fields of all entries one after the other. */

import { BigintValues, ROWS } from './bigint-column.js';
import type { Bindings, DuckDb, Engine } from './duckdb.js';

type Vector = ReturnType<Bindings['data_chunk_get_vector']>;

export interface ListField {
  readonly name: string;
  /** `text` takes strings, `number` whole numbers. */
  readonly type: 'number' | 'text';
}

export class ListColumn {
  /** Offset and length, 64 bits each. */
  private readonly places = new Uint32Array(ROWS * 4);
  private readonly numbers: readonly (BigintValues | null)[];
  private readonly texts: readonly ((string | null)[] | null)[];
  private count = 0;

  constructor(
    readonly name: string,
    readonly fields: readonly ListField[],
  ) {
    this.numbers = fields.map(({ type }) => (type === 'number' ? new BigintValues(ROWS) : null));
    this.texts = fields.map(({ type }) => (type === 'text' ? [] : null));
  }

  /** As SQL writes its type. */
  get sqlType(): string {
    const fields = this.fields.map(
      ({ name, type }) => `"${name}" ${type === 'number' ? 'BIGINT' : 'VARCHAR'}`,
    );
    return `STRUCT(${fields.join(', ')})[]`;
  }

  typeOf({ BIGINT, VARCHAR, LIST, STRUCT }: DuckDb) {
    const types = this.fields.map(({ name, type }) => [name, type === 'number' ? BIGINT : VARCHAR] as const);
    return LIST(STRUCT(Object.fromEntries(types)));
  }

  begin(row: number): void {
    this.places[row * 4] = this.count;
    this.places[row * 4 + 2] = 0;
  }

  /** Index of a new entry of the row, whose fields are set next. */
  add(row: number): number {
    this.places[row * 4 + 2]++;
    for (const column of this.numbers) column?.reserve(this.count + 1);
    return this.count++;
  }

  setNumber(field: number, entry: number, value: number): void {
    this.numbers[field]?.set(entry, value);
  }

  setNull(field: number, entry: number): void {
    this.numbers[field]?.setNull(entry);
  }

  setText(field: number, entry: number, text: string | null): void {
    const texts = this.texts[field];
    if (texts) texts[entry] = text;
  }

  copyTo({ bindings }: Engine, vector: Vector, rows: number): void {
    const { count } = this;
    bindings.copy_data_to_vector(vector, 0, this.places.buffer as ArrayBuffer, 0, rows * 16);
    bindings.list_vector_reserve(vector, count);
    bindings.list_vector_set_size(vector, count);
    const child = bindings.list_vector_get_child(vector);
    this.fields.forEach((_, index) => {
      const field = bindings.struct_vector_get_child(child, index);
      this.numbers[index]?.copyTo(bindings, field, count);
      const texts = this.texts[index];
      if (texts) copyTexts(bindings, field, texts, count);
    });
    this.count = 0;
  }
}

function copyTexts(
  bindings: Bindings,
  vector: Vector,
  texts: readonly (string | null)[],
  count: number,
): void {
  let validity: Uint32Array | null = null;
  for (let entry = 0; entry < count; entry++) {
    const text = texts[entry];
    if (text !== null) bindings.vector_assign_string_element(vector, entry, text);
    else {
      validity ??= new Uint32Array(Math.ceil(count / 64) * 2).fill(0xffff_ffff);
      validity[entry >> 5] &= ~(1 << (entry & 31));
    }
  }
  if (validity === null) return;
  bindings.vector_ensure_validity_writable(vector);
  bindings.copy_data_to_vector_validity(vector, 0, validity.buffer as ArrayBuffer, 0, validity.byteLength);
}
