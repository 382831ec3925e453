/** Reads Kanata logs, plain or packed with gzip or zstd, from front to end. */
import { isUscopeError, UscopeError } from '../../base/errors.js';
import { type TextLine, textLines } from '../text/lines.js';
import { type ByteSource, unpack } from '../text/unpack.js';
import { checkHeader, parseLine } from './parse.js';
import type { PlacedRecord } from './types.js';

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
    if (isFirst)
      throw new UscopeError('CONVERT_TRUNCATED', 'the file is empty', { file: this.source.name, offset: 0 });
  }

  /** One by one. @throws UscopeError as `batches` */
  async *records(): AsyncGenerator<PlacedRecord> {
    for await (const batch of this.batches()) yield* batch;
  }

  private async *lines(): AsyncGenerator<TextLine[]> {
    try {
      yield* textLines(unpack(this.source, this.onRead));
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
