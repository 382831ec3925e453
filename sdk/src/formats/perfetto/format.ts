/** Perfetto, for the conversions. It is written, not read. */
import type { ForeignFormat } from '../common/foreign-format.js';
import { uscopeToPerfetto } from './from-uscope.js';

export const FORMAT: ForeignFormat = {
  name: 'perfetto',
  title: 'Perfetto protobuf trace, for ui.perfetto.dev and trace_processor',
  extensions: ['.pftrace', '.perfetto-trace'],
  options: [
    {
      name: 'time',
      help: 'what a nanosecond of the timeline is: ns (real, rounded down), ps, or cycles; default ns where all clocks have whole ns, else ps',
      direction: 'export',
    },
    {
      name: 'cycle',
      help: 'with time=cycles: nanoseconds of the timeline per cycle; default 1',
      direction: 'export',
    },
    {
      name: 'counters',
      help: 'changes (default): a sample per change of a counter or buffer; none',
      direction: 'export',
    },
    { name: 'core', help: 'only this core', direction: 'export' },
  ],
  write: uscopeToPerfetto,
};
