/** What an export to Kanata knows of an instruction while it is in flight. */

/** An instruction on its way out. */
export interface Flying {
  id: number;
  readonly slot: number;
  entity: number;
  pc: bigint | null;
  bits: number | null;
  gid: number | bigint | null;
  tid: number;
  stage: string | null;
  isFlushed: boolean;
  /** Number and type that a `retire` event gave. */
  rid: bigint | null;
  retireType: number | null;
  /** Its address has been shown, so that annotations need not. */
  showsPc: boolean;
  showsBits: boolean;
  /** Number of the frame in which it began; -1: its id is not known yet. */
  bornIn: number;
}

export function newFlying(slot: number): Flying {
  return {
    id: -1,
    slot,
    entity: slot,
    pc: null,
    bits: null,
    gid: null,
    tid: 0,
    stage: null,
    isFlushed: false,
    rid: null,
    retireType: null,
    showsPc: false,
    showsBits: false,
    bornIn: -1,
  };
}
