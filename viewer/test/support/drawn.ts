/** Pictures in Node: forms fill arrays of pixels, which needs no browser. Texts, arrows and cursors are left out. */
import { memorySource } from '../../../sdk/src/reader/index.js';
import { indexedTrace } from '../../../test/support/indexed-trace.js';
import { type Model, modelSchema, PERIOD_PS } from '../../../test/support/pipeline-model.js';
import type { Picture } from '../../../test/support/png.js';
import type { IndexSums } from '../../src/data/index-sums.js';
import { openTrace } from '../../src/data/library.js';
import { Session } from '../../src/data/session.js';
import { shownCore } from '../../src/data/shown-core.js';
import { rasterAxis } from '../../src/drawing/axis.js';
import { Colouring } from '../../src/drawing/colouring.js';
import { chooseForm, Forms } from '../../src/drawing/forms/choose.js';
import type { Ground } from '../../src/drawing/forms/ground.js';
import type { Frame } from '../../src/drawing/frame.js';
import type { Hits } from '../../src/drawing/hits.js';
import { Disassembly } from '../../src/drawing/labels.js';
import { Raster } from '../../src/drawing/raster.js';
import { RowStore } from '../../src/drawing/row-store.js';
import { ShownLines } from '../../src/drawing/rows/shown-lines.js';
import { AXIS_HEIGHT, DEFAULT_SETTINGS, type Settings } from '../../src/drawing/settings.js';
import { SourceNotes } from '../../src/drawing/source-notes.js';
import { SumsSources } from '../../src/drawing/strip/sources.js';
import { pixelOf, themeOf } from '../../src/model/palette.js';
import { NO_PLACES } from '../../src/model/places.js';
import { EVERY_ROW, type View } from '../../src/model/view.js';

/** As browsers have it, as far as rasters need it. */
class PixelsOnly {
  readonly data: Uint8ClampedArray;
  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    this.data = new Uint8ClampedArray(width * height * 4);
  }
}
if (!('ImageData' in globalThis)) Object.assign(globalThis, { ImageData: PixelsOnly });

export interface DrawnTrace {
  readonly session: Session;
  readonly index: IndexSums;
  readonly store: RowStore;
  readonly sums: SumsSources;
}

export interface Wanted {
  readonly view: View;
  readonly settings?: Partial<Settings>;
  readonly width?: number;
  readonly height?: number;
  readonly ratio?: number;
  readonly selected?: number | null;
  readonly hits?: Hits | null;
}

/** The model's trace, with its index. */
export async function drawnTrace(model: Model, framesPerSegment = 700): Promise<DrawnTrace> {
  const segments = Array.from({ length: Math.ceil(model.frames.length / framesPerSegment) }, (_, at) => {
    const start = at * framesPerSegment;
    const frames = model.frames.slice(start, start + framesPerSegment);
    const end = model.frames[start + framesPerSegment]?.timePs ?? BigInt((model.cycles - 1) * PERIOD_PS);
    return { frames, end, strings: at === 0 ? model.strings : [] };
  });
  const { bytes } = await indexedTrace({ schema: modelSchema(), segments });
  const trace = await openTrace(memorySource(bytes));
  const session = await Session.open(trace, 'model', { core: null, clock: null });
  const index = session.sumsOf(session.ownIndex!)!;
  const store = new RowStore(session.info);
  const diagonal = await index.diagonal(session.lastCycle);
  store.index(diagonal.rows.at(-1)!, diagonal);
  store.mostInFlight = await index.mostInFlight();
  const sums = new SumsSources(session.info);
  sums.add(await index.sums({ from: 0, to: session.lastCycle, intervals: 4096 }), true);
  return { session, index, store, sums };
}

export function frameOf({ session, store, sums }: DrawnTrace, wanted: Wanted): Frame {
  const { view, width = 400, height = 240, ratio = 1, selected = null, hits = null } = wanted;
  const settings = { ...DEFAULT_SETTINGS, gutter: 40, ...wanted.settings };
  const theme = themeOf(settings);
  const { info } = session;
  const plot = { width: width - settings.gutter, height: height - AXIS_HEIGHT };
  const colouring = new Colouring(theme, settings, shownCore(info), info.reasons);
  const lines = settings.squashed === 'collapse' ? new ShownLines(store) : EVERY_ROW;
  const ground: Ground = { view, plot, store, lines, sort: settings.sort, colouring };
  const nothing = null as never;
  return {
    ...ground,
    axis: formOf(wanted).axis(ground),
    info,
    sums,
    settings,
    theme,
    disassembly: new Disassembly(shownCore(info)),
    sources: new SourceNotes(),
    left: settings.gutter,
    top: AXIS_HEIGHT,
    ratio,
    pointer: null,
    selected,
    search: null,
    hits,
    hit: null,
    places: NO_PLACES,
    raster: new Raster(Math.round(width * ratio), Math.round(height * ratio)),
    context: nothing,
    widths: nothing,
  } as Frame;
}

const forms = new Forms();

export const formOf = ({ view, settings }: Wanted) =>
  forms.get(chooseForm(view, { ...DEFAULT_SETTINGS, ...settings }));

/** Everything that the picture needs, brought in as the data worker does. */
export async function complete(trace: DrawnTrace, wanted: Wanted): Promise<Frame> {
  for (;;) {
    const frame = frameOf(trace, wanted);
    const { missing, sums, isUnfinished } = formOf(wanted).needs(frame);
    if (missing.length === 0 && !sums && !isUnfinished) return frame;
    for (const segment of missing) {
      const firstRow = await trace.index.rowsBefore(segment);
      trace.store.add(await trace.session.block(segment, firstRow, new AbortController().signal));
    }
    if (sums) trace.sums.add(await trace.index.sums(sums), false);
  }
}

export async function draw(trace: DrawnTrace, wanted: Wanted): Promise<Picture> {
  const frame = await complete(trace, wanted);
  const { raster, theme, left, ratio } = frame;
  raster.clip(0, 0);
  raster.clear(theme.background);
  raster.fill(0, 0, Math.round(left * ratio), raster.height, pixelOf(theme.gutter));
  formOf(wanted).raster(frame);
  rasterAxis(frame);
  return { width: raster.width, height: raster.height, data: new Uint8Array(raster.image.data.buffer) };
}
