import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cpuSchema, field } from '../../../test/support/schemas.js';
import { Action, FieldType, type Schema, SF_BUFFER } from '../format/types.js';
import { BlockLoad } from './checkpoint-load.js';
import { stateLayout } from './layout.js';
import { finish } from './steps.js';
import { StorageState } from './storage-state.js';

const [ENTITIES, COUNTER, ROB] = [0, 1, 2];
const MAX = 0xffff_ffff;

describe('ops', () => {
  it('SET truncates to the field and marks the slot valid', () => {
    const state = new StorageState(cpuSchema());
    state.apply(Action.SET, ENTITIES, 3, 0, 7, 9);
    expect(state.value(ENTITIES, 3, 0)).toBe(7n);
    expect([2, 3].map((slot) => state.slotValid(ENTITIES, slot))).toEqual([false, true]);
    expect(state.occupancy(ENTITIES)).toBe(1);
  });

  it('ADD carries into the high word and wraps at the width', () => {
    const state = new StorageState(cpuSchema());
    state.apply(Action.ADD, COUNTER, 0, 0, MAX, 0);
    state.apply(Action.ADD, COUNTER, 0, 0, 2, 0);
    expect(state.value(COUNTER, 0, 0)).toBe(0x1_0000_0001n);
    state.apply(Action.ADD, COUNTER, 0, 0, MAX, MAX); // minus one
    expect(state.value(COUNTER, 0, 0)).toBe(0x1_0000_0000n);
    state.apply(Action.SET, ENTITIES, 0, 0, MAX, 0);
    state.apply(Action.ADD, ENTITIES, 0, 0, 1, 0);
    expect(state.value(ENTITIES, 0, 0)).toBe(0n);
  });

  it('CLEAR zeroes the slot and makes it invalid', () => {
    const state = new StorageState(cpuSchema());
    state.apply(Action.SET, ENTITIES, 1, 1, MAX, MAX);
    state.apply(Action.CLEAR, ENTITIES, 1, 0, 0, 0);
    state.apply(Action.CLEAR, ENTITIES, 1, 0, 0, 0);
    expect(state.occupancy(ENTITIES)).toBe(0);
    expect(state.value(ENTITIES, 1, 1)).toBe(0n);
  });

  it('PROP_SET sets a property and no slot', () => {
    const state = new StorageState(cpuSchema());
    state.apply(Action.PROP_SET, ROB, 0, 1, 0x12345, 0);
    expect(state.property(ROB, 1)).toBe(0x2345n);
    expect(state.occupancy(ROB)).toBe(0);
  });

  it('slots of dense storages are always valid; dense buffers count what was set', () => {
    const base = cpuSchema();
    const dense = { ...base.storages[ROB], flags: SF_BUFFER };
    const state = new StorageState({ ...base, storages: [base.storages[0], base.storages[1], dense] });
    expect(state.slotValid(ROB, 5)).toBe(true);
    state.apply(Action.SET, ROB, 5, 0, 1, 0);
    expect(state.occupancy(ROB)).toBe(1);
    expect(state.occupancy(COUNTER)).toBe(1);
  });

  it('ids out of range are distinguished', () => {
    const state = new StorageState(cpuSchema());
    expect(() => state.value(9, 0, 0)).toThrow('OP_STORAGE');
    expect(() => state.value(ENTITIES, 16, 0)).toThrow('OP_SLOT');
    expect(() => state.value(ENTITIES, 0, 3)).toThrow('OP_FIELD');
    expect(() => state.property(ROB, 2)).toThrow('OP_PROPERTY');
    expect(state.inRange(7, 0, 0, 0)).toBe(false);
  });
});

describe('a schema that asks for too much memory', () => {
  it('is refused before anything is allocated', () => {
    const huge: Schema = {
      ...cpuSchema(),
      storages: Array.from({ length: 100 }, (_, id) => ({
        name: `s${id}`,
        storageId: id,
        numSlots: 65_535,
        flags: 0,
        scopeId: 0,
        fields: Array.from({ length: 100 }, (_, f) => field(`f${f}`, FieldType.U64)),
        properties: [],
      })),
    };
    expect(() => stateLayout(huge)).toThrow('SCHEMA_LIMIT');
  });
});

describe('checkpoints', () => {
  const op = fc.record({
    action: fc.constantFrom(Action.SET, Action.ADD, Action.CLEAR, Action.PROP_SET),
    storage: fc.nat(2),
    slot: fc.nat(15),
    field: fc.nat(2),
    lo: fc.nat(MAX),
    hi: fc.nat(MAX),
  });

  it('hold the whole state', () => {
    fc.assert(
      fc.property(fc.array(op, { maxLength: 60 }), (ops) => {
        const state = new StorageState(cpuSchema());
        for (const { action, storage, slot, field: f, lo, hi } of ops) {
          if (state.inRange(action, storage, slot, f)) state.apply(action, storage, slot, f, lo, hi);
        }
        const loaded = new StorageState(state.layout);
        loaded.loadCheckpoint(state.encodeCheckpoint());
        expect(loaded.cells).toEqual(state.cells);
        expect(loaded.encodeCheckpoint()).toEqual(state.encodeCheckpoint());
        const used = new Uint8Array(64 * 1024).fill(0xff).subarray(8);
        expect(state.encodeCheckpoint(() => used)).toEqual(loaded.encodeCheckpoint());
        for (const storage of [ENTITIES, COUNTER, ROB]) {
          expect(loaded.occupancy(storage)).toBe(state.occupancy(storage));
        }
      }),
    );
  });

  it('cut or garbled anywhere give a coded error or a state, nothing else', () => {
    const state = new StorageState(cpuSchema());
    state.apply(Action.SET, ENTITIES, 3, 1, 5, 6);
    const bytes = state.encodeCheckpoint();
    const attempt = (damaged: Uint8Array) => {
      try {
        new StorageState(state.layout).loadCheckpoint(damaged, 1000);
      } catch (error) {
        expect((error as { code: string }).code).toMatch(/^FORMAT_/);
        expect((error as { place: { offset: number } }).place.offset).toBeGreaterThanOrEqual(1000);
      }
    };
    for (let i = 0; i < bytes.length; i++) {
      attempt(bytes.subarray(0, i));
      for (const flip of [1, 0x80, 0xff]) attempt(bytes.map((b, k) => (k === i ? b ^ flip : b)));
    }
  });

  it('a snapshot replaces slots and leaves properties', () => {
    const state = new StorageState(cpuSchema());
    state.apply(Action.PROP_SET, ROB, 0, 0, 4, 0);
    state.apply(Action.SET, ROB, 1, 0, 9, 0);
    const snapshot = Uint8Array.of(0b100, 7, 0, 0, 0);
    const view = new DataView(snapshot.buffer);
    finish(new BlockLoad(state, ROB, snapshot, view, 0, snapshot.length, 0, false));
    expect([1, 2].map((slot) => state.slotValid(ROB, slot))).toEqual([false, true]);
    expect(state.value(ROB, 2, 0)).toBe(7n);
    expect(state.property(ROB, 0)).toBe(4n);
  });
});
