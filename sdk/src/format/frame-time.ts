/** The time of frames, each a LEB128 number after that of the one before (docs/reference/format.md#delta-blobs): what of a cursor is about time, and about places. */
import { UscopeError } from '../base/errors.js';

const TWO_32 = 0x1_0000_0000;

export abstract class FrameTime {
  /** Frame time in ps, as u32 halves. */
  timeLo = 0;
  timeHi = 0;

  /** Offset in the blob of what comes next. */
  offset = 0;
  /** Offset in the blob of the present frame or item. */
  itemOffset = 0;

  /** `timePs` as it was asked for last, and its halves. */
  private known = 0n;
  private knownLo = 0;
  private knownHi = 0;

  protected readonly end: number;

  constructor(
    readonly bytes: Uint8Array,
    timeStartPs: bigint,
    private readonly blobOffset: number,
  ) {
    this.end = bytes.length;
    this.timeLo = Number(timeStartPs & 0xffff_ffffn);
    this.timeHi = Number(timeStartPs >> 32n);
  }

  /** Frame time in ps, exact. */
  get timePs(): bigint {
    const { timeLo, timeHi } = this; // asked for again and again within a frame
    if (timeLo !== this.knownLo || timeHi !== this.knownHi) {
      this.known = (BigInt(timeHi) << 32n) | BigInt(timeLo);
      this.knownLo = timeLo;
      this.knownHi = timeHi;
    }
    return this.known;
  }

  /** Frame time in ps as a number: exact below 2^53 (2.5 hours). */
  get time(): number {
    return this.timeHi * TWO_32 + this.timeLo;
  }

  /** Adds the LEB128 delta at `offset` to the time; deltas below 2^28 take the short way. */
  protected addTime(): void {
    const { bytes, end } = this;
    let at = this.offset;
    let delta = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      if (at >= end) this.truncated('time delta');
      const byte = bytes[at++];
      delta |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        this.offset = at;
        this.advance(delta, 0);
        return;
      }
    }
    this.addLongTime(delta, at);
  }

  /** The delta's groups 5 to 10; `low` holds the first 28 bits. */
  private addLongTime(low: number, at: number): void {
    let middle = 0; // bits 28..55
    let high = 0; // bits 56..63
    for (let index = 4; index < 10; index++) {
      if (at >= this.end) this.truncated('time delta');
      const byte = this.bytes[at++];
      if (index < 8) middle |= (byte & 0x7f) << (7 * (index - 4));
      else high |= (byte & 0x7f) << (7 * (index - 8));
      if (byte < 0x80) {
        if (high > 0xff) break;
        this.offset = at;
        this.advance((low | (middle << 28)) >>> 0, ((middle >>> 4) | (high << 24)) >>> 0);
        return;
      }
    }
    this.invalid('time delta exceeds 64 bits');
  }

  private advance(lo: number, hi: number): void {
    let timeLo = this.timeLo + lo;
    let timeHi = this.timeHi + hi;
    if (timeLo >= TWO_32) {
      timeLo -= TWO_32;
      timeHi++;
    }
    if (timeHi >= TWO_32) this.invalid('frame time exceeds 64 bits');
    this.timeLo = timeLo;
    this.timeHi = timeHi;
  }

  protected truncated(what: string): never {
    const detail = `${what} at byte ${this.itemOffset} of the deltas reaches past their end at ${this.end}`;
    throw new UscopeError('FORMAT_TRUNCATED', detail, { offset: this.blobOffset + this.itemOffset });
  }

  protected invalid(detail: string): never {
    throw new UscopeError('FORMAT_VALUE', `${detail} (byte ${this.itemOffset} of the deltas)`, {
      offset: this.blobOffset + this.itemOffset,
    });
  }
}
