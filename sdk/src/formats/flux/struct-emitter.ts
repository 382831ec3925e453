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
  /** Of each member: its number, its form, and where its field is. */
  private readonly numbers: Float64Array;
  private readonly forms: Uint8Array;
  private readonly offsets: Int32Array;
  /** Members that become strings. */
  private readonly texts: number[] = [];
  /** Of each member: where its value is, and its size; the string that it has become. */
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
    members: readonly SurveyedMember[],
    private readonly packer: EventPacker,
  ) {
    this.numbers = Float64Array.from(members, ({ member }) => member);
    this.forms = Uint8Array.from(members, ({ form }) => form);
    this.offsets = new Int32Array(members.length);
    let offset = MEMBERS_AT;
    for (const [i, { form }] of members.entries()) {
      this.offsets[i] = offset;
      offset += sizeOf(form);
      if (form !== Form.INTEGER && form !== Form.FLOAT) this.texts.push(i);
    }
    this.at = new Int32Array(members.length);
    this.sizes = new Int32Array(members.length);
    this.strings = new Uint32Array(members.length);
  }

  /** Where the value's members are in `bytes`; those that it lacks are empty. */
  emit(bytes: Uint8Array, from: number, size: number, tag: number): void {
    this.find(bytes, from, size);
    this.nameStrings(bytes);
    const { forms, offsets, packer } = this;
    const { view, offset } = packer.open(this.event);
    view.setUint8(offset, tag);
    view.setInt32(offset + PRESENT_AT, this.presentLo, true);
    view.setInt32(offset + PRESENT_AT + 4, this.presentHi, true);
    for (let i = 0; i < forms.length; i++) {
      const to = offset + offsets[i];
      const size = this.sizes[i];
      if (forms[i] === Form.INTEGER) putBytes(view, to, bytes, this.at[i], size, true);
      else if (forms[i] === Form.FLOAT) {
        putBytes(view, to, bytes, this.at[i], size, false);
        view.setUint8(to + 8, size * 8);
      } else view.setUint32(to, this.strings[i], true);
    }
  }

  /** Where the values of the members are, and which are there. */
  private find(bytes: Uint8Array, from: number, size: number): void {
    const { walk, numbers, at, sizes } = this;
    walk.open(bytes, from, size);
    let isFound = walk.advance();
    let presentLo = 0;
    let presentHi = 0;
    for (let i = 0; i < numbers.length; i++) {
      if (!isFound || walk.member !== numbers[i]) {
        at[i] = ABSENT;
        sizes[i] = 0;
        continue;
      }
      if (i < 32) presentLo |= 1 << i;
      else presentHi |= 1 << i;
      at[i] = walk.at;
      sizes[i] = walk.size;
      isFound = walk.advance();
    }
    this.presentLo = presentLo;
    this.presentHi = presentHi;
  }

  private nameStrings(bytes: Uint8Array): void {
    for (const i of this.texts) {
      const form = this.forms[i];
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

  private text(form: number, i: number, bytes: Uint8Array): string {
    const [at, size] = [this.at[i], this.sizes[i]];
    if (at === ABSENT) return '';
    if (form === Form.DECIMAL) return String(sintToBigInt(bytes, at, size));
    return hex(bytes.subarray(at, at + size));
  }
}
