/** The likely causes in a tracer, and what to do. */
export const CAUSES = {
  protocol:
    'the schema uses a name of the protocol for something else: correct it as the message says, or give your own storage or event another name',
  reads:
    'the tracer takes the read mask of the interface for a load, but the core drives it for other instructions too (Ibex does): record an access only for instructions that are loads by their opcode',
  writes:
    'the tracer takes a byte enable for a store, also when the request is a read: gate it with the write signal',
  stages:
    'the CLEAR of entities is missing on one path: check that every instruction that retires, traps or is squashed is cleared, also those squashed before they were issued',
  reused:
    'ids are given out again before their instruction has been cleared: give entities more slots than can be in flight, and record the CLEAR before the next birth',
  strangers:
    'the event carries another number than entity_id, such as a ROB index, or is recorded after the CLEAR of its instruction',
  unknownEnds:
    'an instruction is cleared twice, for example squashed and then retired, or the tracer started while it was in flight',
  entries:
    'the buffer is cleared when instructions retire but not when they are squashed: clear its slots in the flush path too',
  order:
    'the birth is recorded out of program order, or two instructions that retire in one cycle are recorded youngest first',
  flow: 'instructions that retire are left out: a second retirement port, a fused pair, or a trap or interrupt without its event',
  width:
    'code of 2 bytes was written as 4: give a compressed instruction its own 16 bits, and advance the pc by 2 (in STF, INST_OPCODE16)',
  counters:
    'the counter is added in another place than the event or CLEAR it belongs to: count where the item is recorded',
  cycles:
    'the counter cycles is not added in every cycle, is added twice, or the period of the clock is wrong',
  slots:
    'a slot is counted in two classes or in none: the classes of a cycle must add up to the width of dispatch',
} as const;
