/** The picture: what is on the screen, and when it is drawn again. Forms draw it; the navigator moves it. */
import type { DataMessage, TraceInfo, Want } from '../data/protocol.js';
import { shownCore } from '../data/shown-core.js';
import type { RowBlock } from '../model/blocks.js';
import type { Command } from '../model/commands.js';
import { type Growth, grown } from '../model/growth.js';
import { pixelOf, type Theme, themeOf } from '../model/palette.js';
import { NO_PLACES, type Places } from '../model/places.js';
import { detailsOf, type RowDetails } from '../model/row.js';
import {
  DEFAULT_ASPECT,
  DEFAULT_SCALE,
  EVERY_ROW,
  fitScale,
  type PlotSize,
  type View,
  type Yielding,
} from '../model/view.js';
import { paintAxis, paintCursor, paintHit, rasterAxis } from './axis.js';
import { AXIS_FONT, BOX_FONT, contextOf, TEXT_FONT, TextWidths } from './canvas.js';
import { Colouring } from './colouring.js';
import { AxisOnly } from './forms/axis-only.js';
import { chooseForm, Forms } from './forms/choose.js';
import type { Form, Needs, Point } from './forms/form.js';
import type { Ground } from './forms/ground.js';
import { notHere } from './forms/row-form.js';
import type { Frame, Pointer } from './frame.js';
import { Hits } from './hits.js';
import { Disassembly } from './labels.js';
import { drawMinimap } from './minimap.js';
import { Navigator } from './navigator.js';
import { paintPlaces, paintRange } from './places.js';
import type { CanvasSize, SceneReport, SceneState } from './protocol.js';
import { Raster } from './raster.js';
import { RowStore } from './row-store.js';
import { ShownLines } from './rows/shown-lines.js';
import { PAGE_ROWS } from './rows/sorted-pages.js';
import { AXIS_HEIGHT, type Settings } from './settings.js';
import { SourceNotes } from './source-notes.js';
import { SumsSources } from './strip/sources.js';
import { boxesOf } from './svg/svg-boxes.js';
import { SvgPaint } from './svg/svg-paint.js';

const MINIMAP_INTERVAL_MS = 150;
/** Commands with which the user leaves the end of a trace that is being followed. */
const MOVES_AWAY: ReadonlySet<Command['do']> = new Set([
  ...(['rows', 'cycles', 'widths', 'drag', 'first', 'return', 'selectAt', 'selectNext', 'producer'] as const),
  ...(['consumer', 'align', 'goRow', 'goCycle', 'reveal', 'selectId', 'view'] as const),
]);

export interface SceneStart {
  readonly canvas: OffscreenCanvas;
  readonly minimap: OffscreenCanvas;
  readonly port: MessagePort;
  readonly settings: Settings;
  readonly size: CanvasSize;
  readonly minimapSize: CanvasSize;
  readonly view: View | null;
  readonly selected: number | null;
  readonly at: number | null;
}

/** The trace, once it is known. */
interface Shown {
  info: TraceInfo;
  readonly store: RowStore;
  readonly sums: SumsSources;
  readonly disassembly: Disassembly;
  readonly navigator: Navigator;
  /** Rows without those that were squashed. */
  readonly collapsed: ShownLines;
  colouring: Colouring;
}

export class Scene {
  view: View = { x: 0, y: 0, scale: DEFAULT_SCALE, aspect: DEFAULT_ASPECT };
  selected: number | null;
  private readonly context: OffscreenCanvasRenderingContext2D;
  private readonly minimapContext: OffscreenCanvasRenderingContext2D;
  private readonly widths: Frame['widths'];
  private readonly forms = new Forms();
  private readonly axisOnly = new AxisOnly();
  private raster: Raster;
  private shown: Shown | null = null;
  private settings: Settings;
  private size: CanvasSize;
  private minimapSize: CanvasSize;
  private pointer: Pointer | null = null;
  private hits: Hits | null = null;
  private hit: number | null = null;
  private readonly sources = new SourceNotes();
  private places: Places = NO_PLACES;
  private isScheduled = false;
  private isMinimapStale = true;
  private minimapDrawn = 0;
  private frames = 0;
  private wanted = '';
  /** Blocks that have come. */
  private received = 0;
  /** End of the trace, cycles, as of the last picture in which nothing was missing. */
  private shownTo = 0;
  /** The end of a trace that is being written stays in sight. */
  private isFollowing = false;
  /** It is brought into sight once its rows are here. */
  private isEndAwaited = false;
  /** All of the trace was in sight before it grew. */
  private isFitted = false;

  constructor(
    private readonly start: SceneStart,
    private readonly report: (message: SceneReport) => void,
  ) {
    this.settings = start.settings;
    this.size = start.size;
    this.minimapSize = start.minimapSize;
    this.selected = start.selected;
    this.context = contextOf(start.canvas);
    this.minimapContext = contextOf(start.minimap);
    this.widths = {
      text: new TextWidths(this.context, TEXT_FONT),
      box: new TextWidths(this.context, BOX_FONT),
      axis: new TextWidths(this.context, AXIS_FONT),
    };
    this.raster = this.fitCanvas();
    start.port.onmessage = ({ data }: MessageEvent<DataMessage>) => this.take(data);
    this.schedule();
  }

  resize(size: CanvasSize, minimapSize: CanvasSize): void {
    if (isSame(size, this.size) && isSame(minimapSize, this.minimapSize)) return;
    this.size = size;
    this.minimapSize = minimapSize;
    this.raster = this.fitCanvas();
    this.isMinimapStale = true;
    this.minimapDrawn = 0;
    this.clamp('x');
    // An emptied canvas must not be seen.
    this.draw();
  }

  use(settings: Settings): void {
    const isSorted = settings.sort !== this.settings.sort && settings.sort !== 'fetch';
    this.settings = settings;
    if (isSorted && this.shown && this.form.name === 'straight') this.toPageStart(this.shown.store);
    if (this.shown) this.shown.colouring = this.colouringOf(this.shown.info);
    this.isMinimapStale = true;
    this.clamp('y');
    this.schedule();
  }

  /** What another order puts first is to be seen. */
  private toPageStart(store: RowStore): void {
    const { x, y } = this.view;
    const first = Math.floor(Math.max(0, y) / PAGE_ROWS) * PAGE_ROWS;
    const since = x - store.cycleOf(Math.max(0, y));
    this.view = { ...this.view, x: store.cycleOf(first) + since, y: first };
  }

  point(pointer: Pointer | null): void {
    this.pointer = pointer;
    this.schedule();
  }

  place(places: Places): void {
    this.places = places;
    this.schedule();
  }

  mark(rows: Float64Array, cycles: Float64Array): void {
    this.hits = rows.length + cycles.length > 0 ? new Hits(rows, cycles) : null;
    if (!this.hits) this.hit = null;
    this.isMinimapStale = true;
    this.schedule();
  }

  markHit(cycle: number): void {
    this.hit = cycle;
    this.schedule();
  }

  /** Writes beside instructions what the page says of their addresses. */
  note(texts: readonly (readonly [string, string])[]): void {
    this.sources.add(texts);
    this.schedule();
  }

  run(command: Command): void {
    const { shown } = this;
    if (!shown) return;
    if (MOVES_AWAY.has(command.do)) this.isFollowing = this.isEndAwaited = false;
    if (command.do === 'follow') this.isFollowing = !shown.info.isComplete;
    if (command.do === 'within') this.showWithin(shown, command);
    else shown.navigator.run(command);
    this.schedule();
  }

  /** A picture of all of it stays one. */
  private showWithin({ store, navigator }: Shown, within: RowStore['within']): void {
    const isFitted = this.view.scale === fitScale(this.plot, store.whole);
    store.within = within;
    if (isFitted) navigator.run({ do: 'fit' });
    else this.clamp('y');
  }

  /** More of the trace is here: the whole run stays whole, and the end in sight. */
  private grow(shown: Shown, growth: Growth): void {
    const { extent } = shown.store;
    this.isFitted = this.view.scale === fitScale(this.plot, shown.store.whole);
    const info = grown(shown.info, growth);
    shown.info = info;
    shown.store.grow(info);
    shown.sums.grow(info, extent.lastCycle);
    this.wanted = '';
    this.isMinimapStale = true;
    // Where there are no rows nothing more comes of them.
    if (info.core < 0) this.toEnd(shown);
  }

  private toEnd({ navigator, info, store }: Shown): void {
    const isFitted = this.isFitted || this.view.scale === fitScale(this.plot, store.whole);
    this.isFitted = false;
    if (isFitted) navigator.run({ do: 'fit' });
    else this.isEndAwaited = this.isFollowing;
    if (info.isComplete) this.isFollowing = false;
    this.showEnd(this.shown!);
  }

  /** Where nothing is fetched for long at first, or the beginning is damaged, the first picture begins with the first instruction. */
  private showBeginning({ firstRow, count, baseCycle, birth }: RowBlock): void {
    const { view, at } = this.start;
    const { x, y, scale } = this.view;
    const isUntouched =
      view === null && at === null && y === 0 && x === this.shown!.store.extent.firstCycle - 0.5;
    if (!isUntouched || this.isFollowing || firstRow !== 0 || count === 0) return;
    const first = baseCycle + birth[0]!;
    if (first > x + this.plot.width / scale) this.view = { ...this.view, x: first - 0.5 };
  }

  /** The picture stays as it is until the rows at the end are here. */
  private showEnd({ navigator, store }: Shown): void {
    if (!this.isEndAwaited || (this.form.hasRows && !store.has(store.segments - 1))) return;
    this.isEndAwaited = false;
    navigator.run({ do: 'follow' });
  }

  describe(row: number): RowDetails | null {
    const place = this.shown?.store.locate(row);
    if (!place || !this.shown) return null;
    return detailsOf(place.block, place.index, this.shown.disassembly.of(place.block, place.index));
  }

  get form(): Form {
    if (this.shown && this.shown.info.core < 0) return this.axisOnly;
    return this.forms.get(chooseForm(this.view, this.settings));
  }

  get ground(): Ground {
    const { store, colouring, collapsed } = this.shown!;
    const { squashed, sort } = this.settings;
    const lines = squashed === 'collapse' && this.hasFetchOrder ? collapsed : EVERY_ROW;
    return { view: this.view, plot: this.plot, store, lines, sort, colouring };
  }

  /** Sorted rows have their own places. */
  private get hasFetchOrder(): boolean {
    return this.form.name !== 'straight' || this.settings.sort === 'fetch';
  }

  plotPoint(at: Point | null): Point {
    const { plot, left } = this;
    const point = at ?? this.pointer;
    const isInside =
      point !== null &&
      point.y >= AXIS_HEIGHT &&
      point.x <= left + plot.width &&
      (at !== null || point.x >= left);
    if (!point || !isInside) return { x: plot.width / 2, y: plot.height / 2 };
    return { x: point.x - left, y: point.y - AXIS_HEIGHT };
  }

  rowAt(at: Point): number | null {
    return this.shown ? this.form.hit(this.frame(this.shown), at).row : null;
  }

  clamp(yielding: Yielding): void {
    if (this.shown) this.view = this.form.moves.clamp(this.ground, yielding);
  }

  private get theme(): Theme {
    return themeOf(this.settings);
  }

  private get left(): number {
    return Math.min(this.settings.gutter, this.size.width - 80);
  }

  private get plot(): PlotSize {
    return {
      width: Math.max(40, this.size.width - this.left),
      height: Math.max(20, this.size.height - AXIS_HEIGHT),
    };
  }

  private take(message: DataMessage): void {
    if (message.type === 'trace') this.open(message.info);
    const { shown } = this;
    if (!shown) return;
    if (message.type === 'grown') this.grow(shown, message.growth);
    else if (message.type === 'block') {
      this.received++;
      shown.store.add(message.block);
      this.showBeginning(message.block);
      this.showEnd(shown);
      shown.navigator.resume(message.block.segment);
    } else if (message.type === 'index') {
      shown.store.index(message.rows, message.diagonal);
      this.toEnd(shown);
      shown.store.mostInFlight = message.mostInFlight;
      this.isMinimapStale = true;
      shown.navigator.resume(null);
    } else if (message.type === 'sums') {
      shown.sums.add(message.part, message.isOverview);
      this.isMinimapStale ||= message.isOverview;
    } else if (message.type === 'progress') shown.store.progress = message.progress;
    else if (message.type === 'counted') shown.store.counted(message.segment, message.rows);
    this.schedule();
  }

  private open(info: TraceInfo): void {
    const store = new RowStore(info);
    this.shown = {
      info,
      store,
      sums: new SumsSources(info),
      disassembly: new Disassembly(shownCore(info)),
      navigator: new Navigator(this),
      collapsed: new ShownLines(store),
      colouring: this.colouringOf(info),
    };
    const { view, at } = this.start;
    this.isFollowing = !info.isComplete && view === null && at === null;
    // A view that was linked to is shown as it was: where its rows are is not yet known exactly.
    if (view) this.view = view;
    else if (at !== null) this.run({ do: 'goCycle', cycle: at });
    else this.view = { ...this.view, x: store.extent.firstCycle - 0.5 };
  }

  private colouringOf(info: TraceInfo): Colouring {
    return new Colouring(this.theme, this.settings, shownCore(info), info.reasons);
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    requestAnimationFrame(() => {
      this.isScheduled = false;
      this.draw();
    });
  }

  /** The overview shows all that is known; it is drawn less often than the picture. */
  get isOverviewDrawn(): boolean {
    return !this.isMinimapStale;
  }

  /** Everything anew: the canvas is empty. */
  redraw(): void {
    this.isMinimapStale = true;
    this.schedule();
  }

  private draw(): void {
    try {
      this.drawNow();
    } catch (error) {
      this.report({ type: 'problem', message: error instanceof Error ? error.message : String(error) });
    }
  }

  private drawNow(): void {
    const { context, raster, theme, shown } = this;
    if (!shown) {
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.fillStyle = theme.background;
      context.fillRect(0, 0, raster.width, raster.height);
      return;
    }
    const started = performance.now();
    shown.store.beginPicture();
    const frame = this.frame(shown);
    this.compose(frame);
    const needs = this.withAwaited(this.form.needs(frame), shown);
    this.want(needs, shown.info);
    if (needs.isUnfinished) this.schedule();
    this.drawMinimap(shown, started);
    this.report({ type: 'drawn', state: this.state(frame, needs, started) });
    const pcs = this.sources.takeWanted();
    if (pcs.length > 0) this.report({ type: 'sources', pcs });
  }

  /** What is shown now, without the pointer. @returns null before the trace is open */
  async picture(kind: 'png' | 'svg'): Promise<Blob | string | null> {
    const { shown, size } = this;
    if (!shown) return null;
    const frame = { ...this.frame(shown), pointer: null };
    if (kind === 'png') {
      this.compose(frame);
      return this.start.canvas.convertToBlob({ type: 'image/png' });
    }
    const raster = new Raster(Math.max(1, Math.round(size.width)), Math.max(1, Math.round(size.height)));
    const paint = new SvgPaint(this.context);
    this.compose({ ...frame, ratio: 1, raster, context: paint });
    return boxesOf(raster.values, raster.width, raster.height) + paint.finish();
  }

  /** Boxes as pixels; above them texts and lines. */
  private compose(frame: Frame): void {
    const { context, form, theme } = this;
    const { raster, ratio } = frame;
    raster.clip(0, 0);
    raster.clear(theme.background);
    raster.fill(0, 0, Math.round(this.left * ratio), raster.height, pixelOf(theme.gutter));
    form.raster(frame);
    rasterAxis(frame);
    if (frame.context === context) {
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.putImageData(raster.image, 0, 0);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    form.paint(frame);
    for (const overlay of [paintRange, paintAxis, paintHit, paintPlaces, paintCursor]) overlay(frame);
  }

  private want({ missing, soon, sums, isWaiting }: Needs, { segmentCycles }: TraceInfo): void {
    const { isEndAwaited, received } = this;
    const following = this.isFollowing ? (this.form.hasRows ? 'rows' : 'sums') : null;
    const segmentCount = segmentCycles.length - 1;
    const end = isEndAwaited ? this.endSegments : [];
    // What comes next is fetched once everything in sight is here; of a run that is followed that is its next end.
    const segments = [...new Set([...missing, ...end, ...(following ? [] : soon)])];
    if (missing.length === 0 && !isWaiting && !isEndAwaited) this.shownTo = segmentCycles.at(-1) ?? 0;
    const { shownTo } = this;
    const range = sums ? [sums.from, sums.to, sums.intervals].join() : '';
    const key = `${segments.join()} ${range} ${following} ${shownTo}`;
    if (key === this.wanted) return;
    this.wanted = key;
    const want: Want = { type: 'want', segments, sums, received, segmentCount, following, shownTo };
    this.start.port.postMessage(want);
  }

  /** A place is right once all is here that it was estimated without, in sight or not. */
  private withAwaited(needs: Needs, { navigator, store }: Shown): Needs {
    const awaited = notHere(store, navigator.awaited);
    return awaited.length === 0 ? needs : { ...needs, missing: [...needs.missing, ...awaited] };
  }

  private get endSegments(): number[] {
    const { store } = this.shown!;
    return [store.segments - 1, store.segments - 2].filter((one) => one >= 0 && !store.has(one));
  }

  private drawMinimap({ info, sums }: Shown, now: number): void {
    const { minimapSize } = this;
    if (!this.isMinimapStale) return;
    if (now - this.minimapDrawn < MINIMAP_INTERVAL_MS) {
      setTimeout(() => this.schedule(), MINIMAP_INTERVAL_MS);
      return;
    }
    this.isMinimapStale = false;
    this.minimapDrawn = now;
    const width = Math.max(1, Math.round(minimapSize.width * minimapSize.ratio));
    const height = Math.max(1, Math.round(minimapSize.height * minimapSize.ratio));
    this.minimapContext.putImageData(
      drawMinimap(info, sums.overview, this.hits, this.theme, width, height),
      0,
      0,
    );
  }

  private frame(shown: Shown): Frame {
    return {
      ...shown,
      ...this.ground,
      axis: this.form.axis(this.ground),
      settings: this.settings,
      theme: this.theme,
      left: this.left,
      top: AXIS_HEIGHT,
      ratio: this.size.ratio,
      pointer: this.pointer,
      selected: this.selected,
      hits: this.hits,
      hit: this.hit,
      sources: this.sources,
      places: this.places,
      raster: this.raster,
      context: this.context,
      widths: this.widths,
    };
  }

  private state(frame: Frame, { missing, isWaiting }: Needs, started: number): SceneState {
    const { store, colouring } = frame;
    return {
      view: this.view,
      form: this.form.name,
      rows: store.rows,
      isCounted: store.isComplete,
      progress: store.progress,
      hasOverview: frame.sums.overview !== null,
      isSharp: missing.length === 0 && !isWaiting,
      selected: this.selected === null ? null : this.describe(this.selected),
      selectedRow: this.selected,
      hover: this.hover(frame),
      legend: colouring.legend(),
      isFollowing: this.isFollowing,
      frame: ++this.frames,
      ms: performance.now() - started,
    };
  }

  private hover(frame: Frame): SceneState['hover'] {
    const { pointer, left, size } = this;
    if (!pointer || pointer.y < AXIS_HEIGHT || pointer.y >= size.height) return null;
    const { row, cycle } = this.form.hit(frame, { x: pointer.x - left, y: pointer.y - AXIS_HEIGHT });
    return { details: row === null ? null : this.describe(row), cycle };
  }

  private fitCanvas(): Raster {
    const { size, minimapSize, start } = this;
    const width = Math.max(1, Math.round(size.width * size.ratio));
    const height = Math.max(1, Math.round(size.height * size.ratio));
    start.canvas.width = width;
    start.canvas.height = height;
    start.minimap.width = Math.max(1, Math.round(minimapSize.width * minimapSize.ratio));
    start.minimap.height = Math.max(1, Math.round(minimapSize.height * minimapSize.ratio));
    return new Raster(width, height);
  }
}

const isSame = (a: CanvasSize, b: CanvasSize): boolean =>
  a.width === b.width && a.height === b.height && a.ratio === b.ratio;
