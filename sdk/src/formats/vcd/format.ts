/** VCD, for the conversions: waveforms are read by a map, and traces are written as waveforms. */
import type { ForeignFormat } from '../common/foreign-format.js';
import { sniffText } from '../text/sniff.js';
import { uscopeToVcd } from './from-uscope.js';
import { VCD_EXPORT_OPTIONS } from './options.js';
import { VcdTrace } from './trace.js';

/** The mark of UTF-8 may come first. */
const BEGINNING = /^(\u00ef\u00bb\u00bf)?\s*\$(date|version|timescale|comment|scope|var)\s/;

export const FORMAT: ForeignFormat = {
  name: 'vcd',
  title: 'Value Change Dump, for waveform viewers',
  extensions: ['.vcd', '.vcd.gz'],
  options: [
    {
      name: 'map',
      help: 'file that says which signals become what; --map FILE is the same',
      direction: 'import',
    },
    {
      name: 'unit',
      help: 'what a unit of time is, whatever $timescale says: 1ns',
      direction: 'import',
    },
    ...VCD_EXPORT_OPTIONS,
  ],
  sniff: async (head) => BEGINNING.test(await sniffText(head)),
  open: async (source, options) => new VcdTrace(source, options.get('unit')),
  write: uscopeToVcd,
};
