/** Reads Kanata logs, plain or packed with gzip or zstd, from front to end. */
import { isUscopeError, UscopeError } from '../../base/errors.js';
import { LF, type LinePiece, linePieces, lineText, type TextLine, textLines } from '../text/lines.js';
import { type ByteSource, unpack } from '../text/unpack.js';
import { checkHeader, parseLine } from './parse.js';
import { QuickLines } from './quick-lines.js';
import type { PlacedRecord } from './types.js';
import { type KanataVisitor, visitRecord } from './visitor.js';

export class KanataReader {
  constructor(
    private readonly source: ByteSource,
    /** Called with how many bytes of the file have been read. */
    private readonly onRead?: (bytes: number) => void,
  ) {}

  /**
   * The records in batches, in file order; every call reads the file anew. Memory is that of some 256 KiB of text.
   * @throws UscopeError CONVERT_UNKNOWN, CONVERT_UNSUPPORTED, CONVERT_FORMAT, CONVERT_LIMIT, and CONVERT_TRUNCATED when the file ends inside a
   *   line that says nothing yet, or its packing ends early; all records before have been handed out by then. A last line that makes
   *   sense without its line feed is taken.
   */
  async *batches(): AsyncGenerator<PlacedRecord[]> {
    let isFirst = true;
    for await (const lines of this.lines()) {
      const batch: PlacedRecord[] = [];
      let failure: unknown;
      for (const { text, offset, isWhole } of lines) {
        try {
          if (isFirst) checkHeader(text);
          else {
            const record = parseLine(text, offset);
            if (record) batch.push({ record, offset });
          }
        } catch (error) {
          failure = this.failure(error, isWhole, offset);
          break;
        }
        isFirst = false;
      }
      if (batch.length > 0) yield batch;
      if (failure !== undefined) throw failure;
    }
    if (isFirst) throw this.empty();
  }

  /**
   * The same for a visitor, much faster.
   * @throws UscopeError as `batches`, and what the visitor throws, with the offset of the line
   */
  async visit(visitor: KanataVisitor, signal?: AbortSignal): Promise<void> {
    const quick = new QuickLines();
    let isFirst = true;
    for await (const { bytes, end, offset, isWhole } of this.pieces()) {
      signal?.throwIfAborted();
      let at = 0;
      if (isFirst) {
        at = isWhole ? bytes.indexOf(LF) + 1 : end;
        this.checkHeader(lineText(bytes, 0, isWhole ? at - 1 : at), isWhole);
        isFirst = false;
      }
      while (at < end) {
        try {
          // Inside one `try`, so that a line costs no further call.
          while (at < end) {
            if (isWhole && visitor.takeLines) {
              at = visitor.takeLines(bytes, at, end);
              if (at >= end || visitor.isFull) break;
            }
            if (isWhole && quick.take(bytes, at, visitor)) at = quick.next;
            else
              at = this.takeSlowly(
                bytes,
                at,
                isWhole ? bytes.indexOf(LF, at) : end,
                offset,
                isWhole,
                visitor,
              );
            if (visitor.isFull) break;
          }
        } catch (error) {
          throw isUscopeError(error) ? error.at({ offset: offset + at }) : error;
        }
        if (visitor.isFull) await visitor.push();
      }
    }
    if (isFirst) throw this.empty();
  }

  private checkHeader(line: string, isWhole: boolean): void {
    try {
      checkHeader(line);
    } catch (error) {
      throw this.failure(error, isWhole, 0);
    }
  }

  /** Any line. Returns where the next one begins. */
  private takeSlowly(
    bytes: Uint8Array,
    from: number,
    to: number,
    offset: number,
    isWhole: boolean,
    visitor: KanataVisitor,
  ): number {
    let record: ReturnType<typeof parseLine>;
    try {
      record = parseLine(lineText(bytes, from, to), offset + from);
    } catch (error) {
      throw this.failure(error, isWhole, offset + from);
    }
    if (record) visitRecord(record, visitor);
    return to + 1;
  }

  private empty(): UscopeError {
    return new UscopeError('CONVERT_TRUNCATED', 'the file is empty', { file: this.source.name, offset: 0 });
  }

  /** One by one. @throws UscopeError as `batches` */
  async *records(): AsyncGenerator<PlacedRecord> {
    for await (const batch of this.batches()) yield* batch;
  }

  private lines(): AsyncGenerator<TextLine[]> {
    return this.named(textLines(unpack(this.source, this.onRead)));
  }

  private pieces(): AsyncGenerator<LinePiece> {
    return this.named(linePieces(unpack(this.source, this.onRead)));
  }

  private async *named<T>(pieces: AsyncIterable<T>): AsyncGenerator<T> {
    try {
      yield* pieces;
    } catch (error) {
      throw isUscopeError(error) ? error.at({ file: this.source.name }) : error;
    }
  }

  private failure(error: unknown, isWhole: boolean, offset: number): unknown {
    if (!isUscopeError(error)) return error;
    const file = this.source.name;
    const isCut = !isWhole && error.code !== 'CONVERT_LIMIT';
    if (!isCut) return error.at({ file });
    return new UscopeError('CONVERT_TRUNCATED', `the file ends inside a line: ${error.detail}`, {
      file,
      offset,
    });
  }
}
