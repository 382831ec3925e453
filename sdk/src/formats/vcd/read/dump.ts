/** Every change of a waveform as a line. */
import { ChangeReader, type StepListener } from './changes.js';
import { isReal, isText, type VcdHeader, type VcdSignal } from './header.js';
import { codeTable, nextPiece, type SignalStore, storeFor } from './signal-store.js';

export function dumpChanges(header: VcdHeader, pieces: AsyncIterator<Uint8Array>, asJson: boolean) {
  const signals = [...new Map(header.signals.map((signal) => [signal.code, signal])).values()];
  const store = storeFor(signals);
  const collected: string[] = [];
  const listener: StepListener = {
    step(time) {
      for (let i = 0; i < store.dirtyCount; i++) {
        const signal = store.dirty[i];
        collected.push(lineOf(time, signals[signal], textOf(store, signals, signal), asJson));
      }
      store.settle();
    },
    dumping: () => undefined,
  };
  const reader = new ChangeReader(codeTable(header, signals), store, listener, header.end);
  let isCut = false;
  async function* lines(): AsyncGenerator<string> {
    for (let piece = await nextPiece(pieces); piece !== null; piece = await nextPiece(pieces)) {
      if (typeof piece === 'string') {
        isCut = true;
        break;
      }
      reader.feed(piece);
      yield* collected.splice(0);
    }
    isCut = reader.finish() !== null || isCut;
    yield* collected.splice(0);
  }
  return { lines: lines(), isCut: () => isCut };
}

function lineOf(time: number, { path }: VcdSignal, value: string, asJson: boolean): string {
  return asJson ? JSON.stringify({ time: String(time), signal: path, value }) : `${time} ${path} ${value}`;
}

function textOf(store: SignalStore, signals: readonly VcdSignal[], signal: number): string {
  const definition = signals[signal];
  const other = store.nextOthers[signal];
  if (isText(definition) || isReal(definition) || other !== '') return String(other);
  let text = '';
  for (let bit = definition.width - 1; bit >= 0; bit--) {
    const word = store.offsets[signal] + (bit >>> 5);
    const [value, unknown] = [
      (store.nextBits[word] >>> (bit & 31)) & 1,
      (store.nextUnknown[word] >>> (bit & 31)) & 1,
    ];
    text += unknown ? 'x' : value;
  }
  return text;
}
