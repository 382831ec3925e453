/** Values of a struct signal as the event that holds them: `tag`, `present`, and the members' fields (mapping.ts), without an allocation per value. */

import { Words } from '../text/columns.js';
import type { EventPacker } from './event-packer.js';
import { hex } from './listing.js';
import { Form } from './mapping.js';
import { MemberCursor } from './member-cursor.js';
import { putBytes } from './number-bytes.js';
import { sintToBigInt } from './numbers.js';
import type { SurveyedMember } from './survey.js';

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const PRESENT_AT = 1;
const MEMBERS_AT = 9;
/** Bytes of a member's fields: an integer, the bits of a float and their number, the reference of a string. */
const sizeOf = (form: Form): number => (form === Form.INTEGER ? 8 : form === Form.FLOAT ? 9 : 4);
const ABSENT = -1;

export class StructEmitter {
  private readonly walk = new MemberCursor();
  private readonly words = new Words();
  /** Of each member: where its field is, where its value is, and its size; the string that it has become. */
  private readonly offsets: number[] = [];
  private readonly at: Int32Array;
  private readonly sizes: Int32Array;
  private readonly strings: Uint32Array;

  constructor(
    private readonly event: number,
    private readonly members: readonly SurveyedMember[],
    private readonly packer: EventPacker,
  ) {
    let offset = MEMBERS_AT;
    for (const { form } of members) {
      this.offsets.push(offset);
      offset += sizeOf(form);
    }
    this.at = new Int32Array(members.length);
    this.sizes = new Int32Array(members.length);
    this.strings = new Uint32Array(members.length);
  }

  /** Where the value's members are in `bytes`; those that it lacks are empty. */
  emit(bytes: Uint8Array, from: number, size: number, tag: number): void {
    this.find(bytes, from, size);
    this.nameStrings(bytes);
    const { view, offset } = this.packer.open(this.event);
    view.setUint8(offset, tag);
    for (let i = 0; i < this.members.length; i++) {
      const isPresent = this.at[i] !== ABSENT;
      if (isPresent) setBit(view, offset + PRESENT_AT, i);
      this.put(view, offset + this.offsets[i], i, bytes);
    }
  }

  private find(bytes: Uint8Array, from: number, size: number): void {
    const { walk, members } = this;
    walk.open(bytes, from, size);
    let isFound = walk.advance();
    for (let i = 0; i < members.length; i++) {
      this.at[i] = ABSENT;
      this.sizes[i] = 0;
      if (!isFound || walk.member !== members[i].member) continue;
      this.at[i] = walk.at;
      this.sizes[i] = walk.size;
      isFound = walk.advance();
    }
  }

  private nameStrings(bytes: Uint8Array): void {
    for (let i = 0; i < this.members.length; i++) {
      const { form } = this.members[i];
      if (form !== Form.INTEGER && form !== Form.FLOAT)
        this.strings[i] = this.packer.string(this.text(form, i, bytes));
    }
  }

  private text(form: Form, i: number, bytes: Uint8Array): string {
    const [at, size] = [this.at[i], this.sizes[i]];
    if (at === ABSENT) return '';
    if (form === Form.DECIMAL) return String(sintToBigInt(bytes, at, size));
    const value = bytes.subarray(at, at + size);
    if (form !== Form.TEXT) return hex(value);
    return this.words.at(bytes, at, at + size) ?? decoder.decode(value);
  }

  private put(view: DataView, offset: number, i: number, bytes: Uint8Array): void {
    const { form } = this.members[i];
    if (form === Form.INTEGER) putBytes(view, offset, bytes, this.at[i], this.sizes[i], true);
    else if (form === Form.FLOAT) {
      putBytes(view, offset, bytes, this.at[i], this.sizes[i], false);
      view.setUint8(offset + 8, this.sizes[i] * 8);
    } else view.setUint32(offset, this.strings[i], true);
  }
}

function setBit(view: DataView, offset: number, bit: number): void {
  const at = offset + (bit >>> 3);
  view.setUint8(at, view.getUint8(at) | (1 << (bit & 7)));
}
