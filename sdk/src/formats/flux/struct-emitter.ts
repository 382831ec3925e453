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
  /** By place in `words`: the word of a number in `wordStrings`. */
  private readonly knownWords: (string | undefined)[] = [];
  private readonly wordStrings: number[] = [];
  /** Which members the value has: halves of 64 bits. */
  private presentLo = 0;
  private presentHi = 0;

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
    this.presentLo = this.presentHi = 0;
    for (let i = 0; i < this.members.length; i++) {
      if (this.at[i] !== ABSENT) {
        if (i < 32) this.presentLo |= 1 << i;
        else this.presentHi |= 1 << i;
      }
      this.put(view, offset + this.offsets[i], i, bytes);
    }
    view.setInt32(offset + PRESENT_AT, this.presentLo, true);
    view.setInt32(offset + PRESENT_AT + 4, this.presentHi, true);
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
        this.strings[i] =
          form === Form.TEXT && this.at[i] !== ABSENT
            ? this.textString(bytes, this.at[i], this.sizes[i])
            : this.packer.string(this.text(form, i, bytes));
    }
  }

  /** Number of the string of a text: most are words that occur again and again. */
  private textString(bytes: Uint8Array, at: number, size: number): number {
    const { words } = this;
    const word = words.at(bytes, at, at + size);
    if (word === null) return this.packer.string(decoder.decode(bytes.subarray(at, at + size)));
    const { place } = words;
    if (this.knownWords[place] === word) return this.wordStrings[place];
    const string = this.packer.string(word);
    this.knownWords[place] = word;
    this.wordStrings[place] = string;
    return string;
  }

  private text(form: Form, i: number, bytes: Uint8Array): string {
    const [at, size] = [this.at[i], this.sizes[i]];
    if (at === ABSENT) return '';
    if (form === Form.DECIMAL) return String(sintToBigInt(bytes, at, size));
    return hex(bytes.subarray(at, at + size));
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
