/** A protocol as sdk/protocols/*.yaml defines it: what a scope may hold, and what cannot be shown without it. */

/** Who defines a part: the author of the protocol, or this project. */
export type Origin = 'upstream' | 'uscope';
/** A `required` field makes its storage or event; an `expected` part is missed where it is not there. */
export type Presence = 'required' | 'expected';
/** Words of the contract. `label`: an enum, or a number without names. `wide`: any number. */
export type ContractType = 'u8' | 'u16' | 'u32' | 'u64' | 'bool' | 'string' | 'label' | 'wide';

export interface FieldContract {
  readonly type: ContractType;
  /** Name of the enum in templates. */
  readonly enum?: string;
  readonly presence?: Presence;
  /** What cannot be shown without it. */
  readonly without?: string;
  /** The name is free: the place among the fields counts. */
  readonly byPosition?: boolean;
}

export interface EventContract {
  /** It is part of what tools know of an entry: its row, card and exports. */
  readonly isFollowed?: boolean;
  readonly presence?: Presence;
  readonly without?: string;
  readonly fields: Readonly<Record<string, FieldContract>>;
}

export interface StorageContract extends EventContract {
  readonly kind: 'sparse' | 'dense' | 'buffer';
  readonly slots: number;
}

export interface Protocol {
  readonly protocol: string;
  readonly version: string;
  /** Scopes whose protocol begins so are of this one, too. */
  readonly prefix?: string;
  /** Events have these fields and no others, in this order. */
  readonly isExact?: boolean;
  /** Field that names an entry of the catalog. */
  readonly id: string;
  readonly properties: readonly string[];
  readonly enums: Readonly<Record<string, readonly string[] | Readonly<Record<string, number>>>>;
  readonly storages: Readonly<Record<string, StorageContract>>;
  /** Storages that are recognised by their shape. */
  readonly shapes: Readonly<Record<string, StorageContract>>;
  /** Counters that tools know, with other names that they understand. */
  readonly counters: Readonly<Record<string, readonly string[]>>;
  readonly events: Readonly<Record<string, EventContract>>;
  /** Names that are kept for later. */
  readonly reserved: {
    readonly storages: Readonly<Record<string, Readonly<Record<string, FieldContract>>>>;
    readonly events: Readonly<Record<string, EventContract>>;
  };
}
