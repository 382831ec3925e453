/** Checks of a schema read from a file, after which ids may index arrays without further care. */
import { UscopeError } from '../base/errors.js';
import { type FieldDef, FieldType, INHERIT_CLOCK, NO_ID, type Schema } from './types.js';

/** FORMAT_ID for a reference to something that is not defined or an id that differs from its index; FORMAT_VALUE for scopes in a loop. */
export function checkSchemaReferences(schema: Schema, offset: number): void {
  const check = new ReferenceCheck(schema, offset);
  schema.clocks.forEach((clock, index) => {
    check.id('clock', clock.name, clock.clockId, index);
  });
  check.scopes();
  schema.storages.forEach((storage, index) => {
    check.id('storage', storage.name, storage.storageId, index);
    check.scope('storage', storage.name, storage.scopeId);
    check.enums(storage.name, storage.fields);
    check.enums(storage.name, storage.properties);
  });
  schema.events.forEach((event, index) => {
    check.id('event', event.name, event.eventTypeId, index);
    check.scope('event', event.name, event.scopeId);
    check.enums(event.name, event.fields);
  });
  for (const field of schema.summaryFields) check.scope('summary field', field.name, field.scopeId);
}

class ReferenceCheck {
  constructor(
    private readonly schema: Schema,
    private readonly offset: number,
  ) {}

  /** Every known writer numbers them from 0, and checkpoints rely on it. */
  id(kind: string, name: string, id: number, index: number): void {
    if (id !== index) this.fail('FORMAT_ID', `${kind} '${name}' has id ${id} but is at index ${index}`);
  }

  scope(kind: string, name: string, scopeId: number): void {
    if (scopeId !== NO_ID && scopeId >= this.schema.scopes.length) {
      this.fail('FORMAT_ID', `${kind} '${name}' is in scope ${scopeId}, which is not defined`);
    }
  }

  enums(owner: string, fields: readonly FieldDef[]): void {
    for (const field of fields) {
      if (field.type === FieldType.ENUM && field.enumId >= this.schema.enums.length) {
        this.fail(
          'FORMAT_ID',
          `field '${field.name}' of '${owner}' uses enum ${field.enumId}, which is not defined`,
        );
      }
    }
  }

  scopes(): void {
    const { scopes, clocks } = this.schema;
    scopes.forEach((scope, index) => {
      this.id('scope', scope.name, scope.scopeId, index);
      this.scope('scope', scope.name, scope.parentId);
      if (scope.clockId !== INHERIT_CLOCK && scope.clockId >= clocks.length) {
        this.fail('FORMAT_ID', `scope '${scope.name}' uses clock ${scope.clockId}, which is not defined`);
      }
    });
    this.scopeLoops();
  }

  /** Linear: a chain that meets a scope already known to reach the root ends there. */
  private scopeLoops(): void {
    const { scopes } = this.schema;
    const state = new Uint8Array(scopes.length); // 0 unseen, 1 on the chain walked now, 2 reaches the root
    for (let start = 0; start < scopes.length; start++) {
      let id = start;
      while (id !== NO_ID && state[id] === 0) {
        state[id] = 1;
        id = scopes[id].parentId;
      }
      if (id !== NO_ID && state[id] === 1) {
        this.fail('FORMAT_VALUE', `scope '${scopes[id].name}' (${id}) is its own ancestor`);
      }
      for (id = start; id !== NO_ID && state[id] === 1; id = scopes[id].parentId) state[id] = 2;
    }
  }

  private fail(code: 'FORMAT_ID' | 'FORMAT_VALUE', detail: string): never {
    throw new UscopeError(code, detail, { offset: this.offset });
  }
}
