/** FST, the packed waveforms of GTKWave, for the conversions: a VCD that goes through GTKWave's own program. */
import type { ForeignFormat } from '../../common/foreign-format.js';
import { uscopeToVcd } from '../from-uscope.js';
import { VCD_EXPORT_OPTIONS } from '../options.js';
import { packAsFst } from './packer.js';

export const FORMAT: ForeignFormat = {
  name: 'fst',
  title: 'Fast Signal Trace, for waveform viewers, through vcd2fst of GTKWave',
  extensions: ['.fst'],
  options: VCD_EXPORT_OPTIONS,
  write: async (trace, files, _extension, context) => {
    const output = await files.open(null);
    await packAsFst(output, context.signal, (vcd) =>
      uscopeToVcd(trace, { open: async () => vcd }, '.vcd', context),
    );
  },
};
