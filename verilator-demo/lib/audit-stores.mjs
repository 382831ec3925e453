/**
 * The store buffer's part of the audit: stores enter at the tail and leave at the head, the properties say so, and each
 * belongs to an instruction, which may have retired but not made room for another one.
 */

const Action = { SET: 1, CLEAR: 2, PROP_SET: 4 };

export class StoreAudit {
  /** @param def the storage, @param report called with what is wrong */
  constructor(def, report) {
    this.report = report;
    this.fields = def.fields.map(({ name }) => name);
    this.properties = def.properties.map(({ name }) => name);
    this.slots = new Array(def.numSlots).fill(null);
    this.head = 0;
    this.tail = 0;
    this.pushed = null;
    this.popped = null;
    this.maxOccupancy = 0;
  }

  /** Returns the store when the operation begins one: its fields follow in the same frame. */
  op(cursor) {
    const { action, slot } = cursor;
    if (action === Action.CLEAR) this.clear(slot);
    else if (action === Action.PROP_SET) this.point(this.properties[cursor.field], cursor.lo);
    else return this.set(slot, this.fields[cursor.field], cursor.lo);
    return null;
  }

  set(slot, field, value) {
    if (field === 'entity_id') {
      if (this.slots[slot]) this.report(`a store enters slot ${slot} of the store buffer, which is taken`);
      if (slot !== this.tail)
        this.report(`a store enters slot ${slot} of the store buffer, the tail is ${this.tail}`);
      this.pushed = { slot, entity: value, addr: 0, data: 0, strobe: 0 };
      this.slots[slot] = this.pushed;
      this.maxOccupancy = Math.max(this.maxOccupancy, this.slots.filter((store) => store).length);
      return this.pushed;
    }
    if (this.pushed?.slot !== slot) this.report(`${field} of a store in slot ${slot} outside its entry`);
    else this.pushed[field] = value;
    return null;
  }

  clear(slot) {
    if (!this.slots[slot]) this.report(`a store leaves slot ${slot} of the store buffer, which is empty`);
    if (slot !== this.head)
      this.report(`a store leaves slot ${slot} of the store buffer, the head is ${this.head}`);
    this.slots[slot] = null;
    this.popped = slot;
  }

  point(property, value) {
    const moved = property === 'head' ? this.popped : this.pushed?.slot;
    if (moved === null || moved === undefined)
      this.report(`the store buffer's ${property} moves without a store`);
    else if (value !== (moved + 1) % this.slots.length) {
      this.report(`the store buffer's ${property} moves to ${value} from slot ${moved}`);
    }
    this[property] = value;
  }

  /** At the end of a frame. */
  endFrame() {
    if (this.pushed && this.tail === this.pushed.slot) this.report("the store buffer's tail stays behind");
    if (this.popped !== null && this.head === this.popped)
      this.report("the store buffer's head stays behind");
    this.pushed = null;
    this.popped = null;
  }

  /** A new instruction takes the number of one whose store is still on its way. */
  checkBirth(id) {
    if (this.slots.some((store) => store?.entity === id)) {
      this.report(`entity ${id} is born while a store of its predecessor waits`);
    }
  }
}
