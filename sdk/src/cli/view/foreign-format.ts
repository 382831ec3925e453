import { type ForeignFormat, sniffFormat, USCOPE } from '../../formats/index.js';
import { openSource } from '../../reader/node.js';

/** The format to convert a file from; null: µScope, or nothing known, which the reader then says. @throws as reading the file */
export async function foreignFormatOf(pathOrUrl: string): Promise<ForeignFormat | null> {
  const source = await openSource(pathOrUrl);
  try {
    const format = await sniffFormat(source);
    return format === null || format === USCOPE || !format.open ? null : format;
  } finally {
    await source.close?.();
  }
}
