/** Ids as constants, under the same names in every language. */
import type { Names } from './identifiers.js';
import type { ClockModel, CodeModel, EventModel, FieldModel, StorageModel } from './model.js';

/** What a constant represents: an id (16 bits), a number of slots, a period in ps (32 bits). */
export type ConstantKind = 'id' | 'slots' | 'period';

export interface Constant {
  readonly name: string;
  readonly kind: ConstantKind;
  readonly value: number;
}

/** A storage with its fields and properties, an event, or the clocks. */
export interface ConstantGroup {
  readonly title: string;
  readonly constants: readonly Constant[];
}

type Owner = StorageModel | EventModel | FieldModel | ClockModel;

/** `ST_ROB`, `SLOTS_ROB`, `F_ROB_ENTITY_ID`, `P_ROB_RETIRE_PTR`, `EV_FLUSH`, `PERIOD_PS_CORE_CLK`. */
export class Constants {
  readonly groups: readonly ConstantGroup[];
  private readonly ids = new Map<Owner, string>();

  /** @param prefix in front of every name, for languages without name spaces */
  constructor(
    model: CodeModel,
    private readonly names: Names,
    private readonly prefix = '',
  ) {
    const clocks = model.clocks.map((clock) =>
      this.claim(clock, ['PERIOD_PS', clock.word], 'period', clock.periodPs),
    );
    this.groups = [
      { title: 'clock periods in ps', constants: clocks },
      ...model.storages.map((storage) => this.storage(storage)),
      ...model.events.map((event) => ({
        title: `event ${event.title}`,
        constants: [this.claim(event, ['EV', event.word], 'id', event.id)],
      })),
    ].filter((group) => group.constants.length > 0);
  }

  /** Name of the constant that holds the id. */
  of(owner: Owner): string {
    const name = this.ids.get(owner);
    if (name === undefined) throw new Error(`no constant for ${owner.word}`);
    return name;
  }

  private storage(storage: StorageModel): ConstantGroup {
    const id = this.claim(storage, ['ST', storage.word], 'id', storage.id);
    const slots = this.named(['SLOTS', storage.word], 'slots', storage.slots);
    const member = (letter: string, field: FieldModel): Constant =>
      this.claim(field, [letter, storage.word, field.word], 'id', field.index);
    return {
      title: `storage ${storage.title}`,
      constants: [
        id,
        slots,
        ...storage.fields.map((field) => member('F', field)),
        ...storage.properties.map((property) => member('P', property)),
      ],
    };
  }

  private claim(owner: Owner, words: readonly string[], kind: ConstantKind, value: number): Constant {
    const constant = this.named(words, kind, value);
    this.ids.set(owner, constant.name);
    return constant;
  }

  private named(words: readonly string[], kind: ConstantKind, value: number): Constant {
    const wanted = this.prefix + words.join('_').toUpperCase();
    return { name: this.names.claim(wanted), kind, value };
  }
}
