/** Walks over the events of a block without allocating: the fields of the present event are read into numbers. */
import { UscopeError } from '../../base/errors.js';
import { EVENT_HEADER_BYTES } from './types.js';

export class EventCursor {
  bytes: Uint8Array = new Uint8Array(0);
  view = new DataView(this.bytes.buffer);
  cycleLo = 0;
  cycleHi = 0;
  formatId = 0;
  /** Bit mask of 32 bits. */
  category = 0;
  source = 0;
  argCount = 0;
  /** The arguments in `bytes`: from here, */
  argsAt = 0;
  /** to here. The size may have been rounded up: the types of the format say what is meant. */
  argsEnd = 0;
  /** Events passed in all blocks. */
  events = 0;
  private at = 0;
  private end = 0;
  private offset = 0;

  /**
   * @param bytes of a block, decompressed
   * @param offset of the block in the file, for errors
   * @param isCut the bytes end early: an event that is not whole is none
   */
  begin(bytes: Uint8Array, offset: number, isCut = false): void {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
    this.end = isCut ? wholeEvents(this.view) : bytes.length;
    this.offset = offset;
  }

  get cycle(): bigint {
    return (BigInt(this.cycleHi) << 32n) | BigInt(this.cycleLo);
  }

  /** Place of the present event in the decompressed block. */
  get blockOffset(): number {
    return this.argsAt - EVENT_HEADER_BYTES;
  }

  /** Which part of the block has been taken, from 0 to 1. */
  get part(): number {
    return this.end === 0 ? 0 : this.at / this.end;
  }

  /** To the next event; false after the last. @throws UscopeError CONVERT_FORMAT when it does not fit into its block */
  next(): boolean {
    const { at, view } = this;
    if (at >= this.end) return false;
    const argsAt = at + EVENT_HEADER_BYTES;
    if (argsAt > this.end) throw this.overrun(at);
    const argsEnd = argsAt + view.getUint16(at, true);
    if (argsEnd > this.end) throw this.overrun(at);
    this.cycleLo = view.getUint32(at + 2, true);
    this.cycleHi = view.getUint32(at + 6, true);
    this.formatId = view.getUint32(at + 10, true);
    this.category = view.getUint32(at + 14, true);
    this.source = view.getUint16(at + 18, true);
    this.argCount = view.getUint8(at + 20);
    this.argsAt = argsAt;
    this.argsEnd = argsEnd;
    this.at = argsEnd;
    this.events++;
    return true;
  }

  private overrun(at: number): UscopeError {
    const detail = `the event at byte ${at} of a block of ${this.end} continues beyond its end`;
    return new UscopeError('CONVERT_FORMAT', detail, { offset: this.offset });
  }
}

/** Bytes up to the end of the last event that is whole. */
function wholeEvents(view: DataView): number {
  let at = 0;
  while (at + EVENT_HEADER_BYTES <= view.byteLength) {
    const next = at + EVENT_HEADER_BYTES + view.getUint16(at, true);
    if (next > view.byteLength) break;
    at = next;
  }
  return at;
}
