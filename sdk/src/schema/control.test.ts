import { describe, expect, it } from 'vitest';
import { SchemaBuilder } from './builder.js';
import { controlEventOf, withControlEvent } from './control.js';
import { parseSchema } from './parse.js';
import { schemaToText } from './to-text.js';

const small = () => new SchemaBuilder().clock('clk', '1 ns').enum('stage', ['a', 'b']);

describe('withControlEvent', () => {
  it('follows everything else, so that no id changes', () => {
    const { schema } = small().event('enter', { stage: 'stage' }).build();
    const extended = withControlEvent(schema);
    expect(extended.storages).toEqual(schema.storages);
    expect(extended.enums.slice(0, schema.enums.length)).toEqual(schema.enums);
    expect(extended.scopes.slice(0, schema.scopes.length)).toEqual(schema.scopes);
    expect(extended.events.slice(0, schema.events.length)).toEqual(schema.events);
    expect(controlEventOf(extended)).toBe(schema.events.length);
    expect(extended.events.at(-1)?.fields.map(({ name }) => name)).toEqual([
      'action',
      'source',
      'subject',
      'text',
    ]);
  });

  it('is a legal schema, and the same when it is applied twice', () => {
    const { schema } = small().counter('cycles').build();
    const extended = withControlEvent(schema);
    expect(withControlEvent(extended)).toBe(extended);
    expect(parseSchema(schemaToText(extended)).schema).toEqual(extended);
  });

  it("leaves a model's own scope of that name alone, and a schema without room", () => {
    const own = small();
    own.scope('uscope').event('control', { value: 'u8' });
    const { schema } = own.build();
    expect(withControlEvent(schema)).toBe(schema);
    expect(controlEventOf(schema)).toBe(-1);
    const full = small();
    for (let i = 0; i < 253; i++) full.enum(`e${i}`, ['x']);
    const { schema: crowded } = full.counter('cycles').build();
    expect(withControlEvent(crowded)).toBe(crowded);
  });
});
