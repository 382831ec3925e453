/** VCD, for the conversions. It is written, not read. */
import type { ForeignFormat } from '../common/foreign-format.js';
import { uscopeToVcd } from './from-uscope.js';

export const FORMAT: ForeignFormat = {
  name: 'vcd',
  title: 'Value Change Dump, for waveform viewers',
  extensions: ['.vcd', '.vcd.gz'],
  options: [
    { name: 'max-slots', help: 'storages with more slots are left out; default 256', direction: 'export' },
    { name: 'events', help: 'yes (default): events and their fields too; no', direction: 'export' },
  ],
  write: uscopeToVcd,
};
