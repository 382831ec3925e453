/** The picture: what is on the screen, how commands change it, and what must be drawn again. */
import { describeProblem } from '../data/problems.js';
import type { DataMessage, TraceInfo, Want } from '../data/protocol.js';
import { shownCore } from '../data/shown-core.js';
import { Aggregates } from '../model/aggregates.js';
import type { Command } from '../model/commands.js';
import { pixelOf, THEMES, type Theme } from '../model/palette.js';
import { dependenciesOf, detailsOf, type RowDetails } from '../model/row.js';
import {
  clampView,
  cycleAtX,
  DEFAULT_ASPECT,
  DEFAULT_SCALE,
  drag,
  fit,
  goToCycle,
  goToRow,
  moveCycles,
  moveRows,
  type PlotSize,
  reveal,
  rowAtY,
  rowHeight,
  type View,
  type Yielding,
  zoomAbout,
} from '../model/view.js';
import { paintAxis, paintCursor, rasterAxis } from './axis.js';
import { AXIS_FONT, BOX_FONT, type Context, TEXT_FONT, TextWidths } from './canvas.js';
import { paintRows, rasterRows, visibleRows } from './classic.js';
import { Colouring } from './colouring.js';
import type { Frame, Pointer } from './frame.js';
import { Disassembly } from './labels.js';
import { drawMinimap } from './minimap.js';
import type { CanvasSize, SceneReport, SceneState } from './protocol.js';
import { Raster } from './raster.js';
import { RowStore } from './row-store.js';
import { Search } from './search.js';
import { AXIS_HEIGHT, MIN_CLASSIC_HEIGHT, type Settings } from './settings.js';
import { paintStrip, rasterStrip } from './strip.js';
import { bucketSums, FineSums, type Sums } from './sums.js';

/** Rows moved by one step of the wheel, where rows are thin as far as this many pixels. */
const THIN_STEP_PIXELS = 20;
const MINIMAP_INTERVAL_MS = 150;

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

/** A view, and what of it gives way where it would lose the trace. */
type Moved = readonly [View, Yielding];

/** The trace, once it is known. */
interface Shown {
  readonly info: TraceInfo;
  readonly store: RowStore;
  readonly aggregates: Aggregates;
  readonly fine: FineSums;
  readonly disassembly: Disassembly;
  colouring: Colouring;
}

export class Scene {
  private readonly context: Context;
  private readonly minimapContext: Context;
  private readonly widths: Frame['widths'];
  private raster: Raster;
  private shown: Shown | null = null;
  private settings: Settings;
  private size: CanvasSize;
  private minimapSize: CanvasSize;
  private view: View = { x: 0, y: 0, scale: DEFAULT_SCALE, aspect: DEFAULT_ASPECT };
  private selected: number | null;
  private pointer: Pointer | null = null;
  /** A move to be made again once a segment is here. */
  private retry: { readonly segment: number; readonly go: () => Moved | null } | null = null;
  private search: Search | null = null;
  private isScheduled = false;
  private isMinimapStale = true;
  private minimapDrawn = 0;
  private frames = 0;

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
    this.clamp('x');
    // An emptied canvas must not be seen.
    this.draw();
  }

  use(settings: Settings): void {
    this.settings = settings;
    if (this.shown) this.shown.colouring = this.colouringOf(this.shown.info);
    this.isMinimapStale = true;
    this.schedule();
  }

  point(pointer: Pointer | null): void {
    this.pointer = pointer;
    this.schedule();
  }

  run(command: Command): void {
    const { shown } = this;
    if (!shown) return;
    if (command.do === 'search' || command.do === 'searchNext') {
      this.find(command, shown);
      return;
    }
    const before = this.form;
    const go = (): Moved | null => this.moved(command, shown.store) ?? this.selectedBy(command, shown.store);
    this.retry = null;
    const moved = go();
    if (moved) this.show(...moved);
    const target = this.targetOf(command, shown.store);
    if (target !== null && !shown.store.has(target)) this.retry = { segment: target, go };
    if (command.do === 'zoom' && before === 'strip' && this.form === 'classic') {
      this.enterRows(this.plotPoint(command.at), shown.store);
    }
    this.schedule();
  }

  private find(command: Command & { do: 'search' | 'searchNext' }, { store, disassembly }: Shown): void {
    if (command.do === 'search') {
      this.search?.stop();
      this.search =
        command.pattern === null || command.pattern === ''
          ? null
          : new Search(command.pattern, store, disassembly);
    }
    const start = this.selected ?? Math.max(0, Math.floor(this.view.y));
    const direction = command.do === 'searchNext' ? command.direction : 1;
    this.search?.begin(start, direction, {
      found: (row) => {
        this.show(...this.revealed(row, store));
      },
      changed: () => this.schedule(),
    });
    this.schedule();
  }

  /** The segment that a command goes to: until it is here, it is only estimated where its rows are. */
  private targetOf(command: Command, store: RowStore): number | null {
    switch (command.do) {
      case 'goCycle':
        return store.segmentAt(command.cycle);
      case 'return':
        return store.segmentAt(this.view.x);
      case 'goRow':
      case 'align':
        return store.segmentOfRow(command.row);
      default:
        return null;
    }
  }

  /** Sums become rows: those fetched in the cycle at a point of the plot come to that point. */
  private enterRows(at: { x: number; y: number }, store: RowStore): void {
    const cycle = cycleAtX(this.view, at.x);
    const go = (): Moved => {
      const y = store.rowAt(cycle) - at.y / rowHeight(this.view);
      return [{ ...this.view, y }, 'y'];
    };
    this.show(...go());
    const segment = store.segmentAt(cycle);
    if (!store.has(segment)) this.retry = { segment, go };
  }

  describe(row: number): RowDetails | null {
    const place = this.shown?.store.locate(row);
    if (!place || !this.shown) return null;
    return detailsOf(place.block, place.index, this.shown.disassembly.of(place.block, place.index));
  }

  private get theme(): Theme {
    return THEMES[this.settings.theme];
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

  private get hasCore(): boolean {
    return this.shown !== null && this.shown.info.core >= 0;
  }

  private get form(): SceneState['form'] {
    // Without a core there is only time to move in.
    if (this.shown && !this.hasCore) return 'strip';
    if (this.settings.form !== 'auto') return this.settings.form;
    return rowHeight(this.view) < MIN_CLASSIC_HEIGHT ? 'strip' : 'classic';
  }

  /** The view after a command that moves it; null: it is none. */
  private moved(command: Command, store: RowStore): Moved | null {
    const { plot, view } = this;
    const { extent } = store;
    switch (command.do) {
      case 'rows':
        return this.rowsMoved(command.count, command.follow, store);
      case 'cycles':
        return [moveCycles(view, command.count), 'y'];
      case 'widths':
        return [moveCycles(view, (command.count * plot.width) / view.scale), 'y'];
      case 'drag': {
        const { dx, dy } = command;
        return [drag(view, dx, dy), Math.abs(dy) > Math.abs(dx) ? 'x' : 'y'];
      }
      case 'zoom': {
        const at = this.plotPoint(command.at);
        return [zoomAbout(view, command.factor, at, plot, extent, command.axis), 'y'];
      }
      case 'zoomDefault': {
        const reset = zoomAbout(view, DEFAULT_SCALE / view.scale, this.plotPoint(null), plot, extent);
        return [{ ...reset, aspect: DEFAULT_ASPECT }, 'y'];
      }
      case 'fit':
        return [fit({ ...view, aspect: DEFAULT_ASPECT }, plot, extent), 'y'];
      case 'first':
        return [{ ...view, x: extent.firstCycle - 0.5, y: 0 }, 'x'];
      case 'last':
        return this.atLast(store);
      case 'return':
        return [goToCycle(view, view.x + plot.width / view.scale / 4, plot, store), 'y'];
      case 'goCycle':
        return [goToCycle(view, command.cycle, plot, store), 'y'];
      case 'align':
        return [{ ...view, x: store.cycleOf(command.row) - Math.min(1, 8 / view.scale) }, 'y'];
      default:
        return null;
    }
  }

  /** Selects, and gives the view in which the selected row is seen; null: it stays as it is. */
  private selectedBy(command: Command, store: RowStore): Moved | null {
    const { plot, selected } = this;
    const inside = (row: number): number => Math.max(0, Math.min(Math.max(0, store.rows - 1), row));
    switch (command.do) {
      case 'select':
        this.selected = command.row === null ? null : inside(command.row);
        return null;
      case 'selectNext': {
        const start = Math.floor(rowAtY(this.view, plot.height / 3));
        return this.revealed(inside(selected === null ? start : selected + command.count), store);
      }
      case 'producer':
      case 'consumer': {
        const row = selected === null ? null : this.neighbour(selected, command.do, store);
        return row === null ? null : this.revealed(row, store);
      }
      case 'goRow':
        this.selected = inside(command.row);
        return [goToRow(this.classicView(), this.selected, plot, store), 'x'];
      case 'view':
        this.selected = command.selected;
        return [command.view, 'y'];
      default:
        return null;
    }
  }

  private revealed(row: number, store: RowStore): Moved {
    this.selected = row;
    const go = (): Moved => [reveal(this.classicView(), row, this.plot, store), 'x'];
    const segment = store.segmentOfRow(row);
    this.retry = store.has(segment) ? null : { segment, go };
    return go();
  }

  /** The view, zoomed in if its rows are too thin to be shown. */
  private classicView(): View {
    return this.form === 'classic'
      ? this.view
      : { ...this.view, scale: DEFAULT_SCALE, aspect: DEFAULT_ASPECT };
  }

  private neighbour(row: number, which: 'producer' | 'consumer', store: RowStore): number | null {
    const place = store.locate(row);
    if (!place) return null;
    if (which === 'producer') {
      const known = dependenciesOf(place.block, place.index).filter(({ producer }) => producer !== null);
      return known.sort((a, b) => b.cycle - a.cycle)[0]?.producer ?? null;
    }
    for (let next = row + 1; next < row + 1024; next++) {
      const other = store.locate(next);
      if (!other) return null;
      if (dependenciesOf(other.block, other.index).some(({ producer }) => producer === row)) return next;
    }
    return null;
  }

  private rowsMoved(count: number, follow: boolean, store: RowStore): Moved {
    const height = rowHeight(this.view);
    if (this.form === 'strip') {
      return [moveCycles(this.view, (count * THIN_STEP_PIXELS) / this.view.scale), 'y'];
    }
    // Of thin rows, as many as make the same way on the screen.
    const rows = height >= 9 ? count : (count * THIN_STEP_PIXELS) / height;
    return [moveRows(this.view, rows, store, follow), 'x'];
  }

  private atLast(store: RowStore): Moved {
    const { plot, view } = this;
    const rows = plot.height / rowHeight(view);
    const y = Math.max(0, store.rows - rows * 0.9);
    const x = store.extent.lastCycle - (plot.width / view.scale) * 0.9;
    return [{ ...view, y, x: this.form === 'strip' ? x : Math.max(x, store.cycleOf(y) - 2) }, 'x'];
  }

  /** Pixel of the plot; null: that of the pointer if it is there, else the middle. */
  private plotPoint(at: Pointer | null): { x: number; y: number } {
    const { plot, left } = this;
    const point = at ?? this.pointer;
    const isInside =
      point !== null && point.x >= left && point.y >= AXIS_HEIGHT && point.x <= left + plot.width;
    if (!point || !isInside) return { x: plot.width / 2, y: plot.height / 2 };
    return { x: point.x - left, y: point.y - AXIS_HEIGHT };
  }

  private show(view: View, yielding: Yielding): void {
    this.view = view;
    this.clamp(yielding);
  }

  private clamp(yielding: Yielding): void {
    if (!this.shown) return;
    const { store } = this.shown;
    const hasRows = this.form === 'classic';
    this.view = clampView(this.view, this.plot, store.extent, store, yielding, hasRows);
  }

  private take(message: DataMessage): void {
    if (message.type === 'trace') this.open(message.info);
    const { shown } = this;
    if (!shown) return;
    if (message.type === 'block') {
      shown.store.add(message.block);
      this.search?.resume();
      if (this.retry && shown.store.has(this.retry.segment)) {
        const moved = this.retry.go();
        this.retry = null;
        if (moved) this.show(...moved);
      }
    } else if (message.type === 'aggregate') {
      shown.store.passed(message.segment, message.firstRow, message.count);
      shown.aggregates.add(message.part);
      this.isMinimapStale = true;
    } else if (message.type === 'complete') {
      shown.store.complete(message.rows);
      this.isMinimapStale = true;
    }
    this.schedule();
  }

  private open(info: TraceInfo): void {
    const store = new RowStore(info);
    this.shown = {
      info,
      store,
      aggregates: new Aggregates(info.aggregates),
      fine: new FineSums(info),
      disassembly: new Disassembly(shownCore(info)),
      colouring: this.colouringOf(info),
    };
    const { view, at } = this.start;
    // A view that was linked to is shown as it was: where its rows are is not yet known exactly.
    if (view) this.view = view;
    else if (at !== null) this.run({ do: 'goCycle', cycle: at });
    else this.view = { ...this.view, x: store.extent.firstCycle - 0.5 };
  }

  private colouringOf(info: TraceInfo): Colouring {
    return new Colouring(this.theme, this.settings.colour, shownCore(info), info.reasons);
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    requestAnimationFrame(() => {
      this.isScheduled = false;
      this.draw();
    });
  }

  private draw(): void {
    try {
      this.drawNow();
    } catch (error) {
      this.report({ type: 'problem', message: describeProblem(error).what });
    }
  }

  private drawNow(): void {
    const { context, raster, theme, shown, size } = this;
    if (!shown) {
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.fillStyle = theme.background;
      context.fillRect(0, 0, raster.width, raster.height);
      return;
    }
    const started = performance.now();
    const frame = this.frame(shown);
    raster.clip(0, 0);
    raster.clear(theme.background);
    raster.fill(0, 0, Math.round(this.left * size.ratio), raster.height, pixelOf(theme.gutter));
    const isSharp = this.hasCore ? this.drawPlot(frame, shown) : this.drawNothing(frame);
    paintAxis(frame);
    paintCursor(frame);
    this.drawMinimap(shown, started);
    this.report({ type: 'drawn', state: this.state(shown, isSharp, performance.now() - started) });
  }

  private drawPlot(frame: Frame, shown: Shown): boolean {
    return this.form === 'classic' ? this.drawClassic(frame) : this.drawStrip(frame, shown);
  }

  /** Only the axis: the tracks below share it. */
  private drawNothing(frame: Frame): boolean {
    this.putRaster(frame);
    return true;
  }

  private drawClassic(frame: Frame): boolean {
    const { store, view, plot } = frame;
    rasterRows(frame);
    this.putRaster(frame);
    paintRows(frame);
    const { from, to } = visibleRows(frame);
    const rows = to - from;
    const needed = new Set(store.segmentsOfRows(from, to));
    for (const segment of store.segmentsOfCycles(view.x, view.x + plot.width / view.scale))
      needed.add(segment);
    const missing = [...needed].filter((segment) => !store.has(segment));
    // What comes next is fetched once everything in sight is here.
    const soon = store.segmentsOfRows(from - rows, to + rows).filter((segment) => !store.has(segment));
    this.want([...new Set([...missing, ...soon])]);
    return missing.length === 0;
  }

  private drawStrip(frame: Frame, { store, fine, aggregates }: Shown): boolean {
    const { view, plot, ratio } = frame;
    const coarse = bucketSums(aggregates);
    const wantsFine = 1 / (view.scale * ratio) < coarse.stepCycles;
    const segments = store.segmentsOfCycles(view.x, view.x + plot.width / view.scale);
    const canBeFine = wantsFine && fine.covers(segments);
    const missing = canBeFine ? segments.filter((segment) => !store.has(segment)) : [];
    const exact = canBeFine && missing.length === 0 ? fine.of(store, segments) : null;
    // The rest of the blocks is summed up in the next frames.
    if (canBeFine && missing.length === 0 && !exact) this.schedule();
    const sums: Sums = exact ?? coarse;
    const lanes = rasterStrip(frame, sums);
    this.putRaster(frame);
    paintStrip(frame, sums, lanes);
    this.want(missing);
    return exact !== null || (!canBeFine && store.isComplete);
  }

  private putRaster(frame: Frame): void {
    const { context, raster, size } = this;
    rasterAxis(frame);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.putImageData(raster.image, 0, 0);
    context.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
  }

  private wanted = '';

  private want(inSight: readonly number[]): void {
    const searched = this.search?.missing ?? null;
    const segments = searched === null || inSight.includes(searched) ? inSight : [...inSight, searched];
    const key = segments.join();
    if (key === this.wanted) return;
    this.wanted = key;
    this.start.port.postMessage({ type: 'want', segments } satisfies Want);
  }

  private drawMinimap({ info, aggregates }: Shown, now: number): void {
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
    this.minimapContext.putImageData(drawMinimap(info, aggregates, this.theme, width, height), 0, 0);
  }

  private frame(shown: Shown): Frame {
    return {
      ...shown,
      view: this.view,
      settings: this.settings,
      theme: this.theme,
      plot: this.plot,
      left: this.left,
      top: AXIS_HEIGHT,
      ratio: this.size.ratio,
      pointer: this.pointer,
      selected: this.selected,
      search: this.search,
      raster: this.raster,
      context: this.context,
      widths: this.widths,
    };
  }

  private state({ store, colouring }: Shown, isSharp: boolean, ms: number): SceneState {
    return {
      view: this.view,
      form: this.form,
      rows: store.rows,
      isCounted: store.isComplete,
      progress: store.progress,
      isSharp,
      selected: this.selected === null ? null : this.describe(this.selected),
      selectedRow: this.selected,
      hover: this.hover(),
      search: this.search?.state ?? null,
      legend: colouring.legend(),
      frame: ++this.frames,
      ms,
    };
  }

  private hover(): SceneState['hover'] {
    const { pointer, view, left, size } = this;
    if (!pointer || pointer.y < AXIS_HEIGHT || pointer.y >= size.height) return null;
    const cycle = Math.floor(view.x + (pointer.x - left) / view.scale);
    if (this.form === 'strip') return { details: null, cycle };
    const row = Math.floor(rowAtY(view, pointer.y - AXIS_HEIGHT));
    return { details: row >= 0 ? this.describe(row) : null, cycle };
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

function contextOf(canvas: OffscreenCanvas): Context {
  const context = canvas.getContext('2d', { alpha: false, willReadFrequently: true });
  if (!context) throw new Error('this browser has no 2D drawing in workers');
  return context;
}
