/** The table `gaps`: one row for each damaged segment, which the other tables lack. */
import type { Trace } from '../../reader/index.js';
import { type Destination, PartFiles } from '../files/part-files.js';
import { NumberColumn, TextColumn } from '../parquet/columns.js';
import type { Gap } from '../raw/gaps.js';

/** Engines expect the table of a core without gaps too: it then has a file without rows. */
export async function writeGaps(
  to: Destination,
  core: string,
  trace: Trace,
  periodPs: bigint,
  gaps: readonly Gap[],
): Promise<void> {
  const [segment, from, end] = ['segment', 'from_cycle', 'to_cycle'].map((name) => new NumberColumn(name));
  const [code, detail] = ['code', 'detail'].map((name) => new TextColumn(name));
  const files = new PartFiles(to, { table: 'gaps', core }, [segment, from, end, code, detail]);
  for (const gap of gaps) {
    const place = await trace.segment(gap.segment).catch(() => null);
    const row = files.rows.begin();
    segment.set(row, gap.segment);
    if (place) {
      from.set(row, Number(place.timeStartPs / periodPs));
      end.set(row, Number(place.timeEndPs / periodPs));
    } else for (const column of [from, end]) column.setNull(row);
    code.setText(row, gap.error.code);
    detail.setText(row, gap.error.detail);
    files.rows.endRow();
    await files.rotate();
  }
  await files.finish({ evenEmpty: true });
}
