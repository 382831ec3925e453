/**
 * The script of the page: draws with uPlot what `chartData` has put there, again when the theme changes. It is text because it runs in a
 * browser, next to uPlot, and is compiled by nobody; the page is complete without it but for the plots.
 */
export const PAGE_SCRIPT = `
'use strict';
(() => {
  const cores = JSON.parse(document.getElementById('data').textContent);
  const root = document.documentElement;
  const colour = (name) => getComputedStyle(root).getPropertyValue('--' + name).trim();
  const palette = (index) => colour('c' + (index % 8));
  const number = new Intl.NumberFormat('en-US', { maximumFractionDigits: 3 });
  const rounded = (value) => (value == null ? '–' : Math.abs(value) >= 0.01 || value === 0 ? number.format(value) : value.toPrecision(3));
  const charts = [];

  const axis = (values, size) => ({
    stroke: colour('soft'), grid: { stroke: colour('grid'), width: 1 }, ticks: { stroke: colour('grid'), width: 1, size: 4 },
    font: '12px system-ui, sans-serif', size, values,
  });

  /** A cycle on an axis: 1.2M. */
  const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 3 });

  function mount(place, options, data) {
    options.width = Math.max(200, place.clientWidth);
    const chart = new uPlot(options, data, place);
    charts.push({ chart, place });
    return chart;
  }

  /** Lines over time; the cursors of a core's plots move together. */
  function overTime(place, { core, series, unit, top, height = 200 }) {
    const interval = (u, value) => {
      if (value == null) return '–';
      return number.format(value) + ' – ' + number.format(value + core.interval - 1);
    };
    mount(place, {
      height,
      cursor: { sync: { key: core.sync }, points: { size: 6 }, drag: { x: true, y: false } },
      scales: { x: { time: false }, y: { range: (u, least, most) => [Math.min(0, least ?? 0), top ?? (most > 0 ? most * 1.05 : 1)] } },
      axes: [axis((u, ticks) => ticks.map((tick) => compact.format(tick)), 30), axis((u, ticks) => ticks.map((tick) => compact.format(tick) + (unit === '%' ? '%' : '')), 52)],
      series: [
        { label: 'cycles', value: interval },
        ...series.map(({ name, shade, fill, raw, hidden }) => ({
          label: name, stroke: shade, width: fill === 'solid' ? 0.5 : 1.5, show: !hidden,
          fill: fill === 'solid' ? shade : fill ? shade + '30' : undefined, points: { show: false },
          value: (u, value, at, index) => (value == null ? '–' : rounded(raw ? raw[index] : value) + (unit === '%' ? ' %' : '')),
        })),
      ],
    }, [core.x, ...series.map(({ values }) => values)]);
  }

  /** Reasons on top of each other: the highest sum is drawn first, the others over it. */
  function stacked(place, core, named) {
    place.classList.add('fixed');
    const sums = new Array(core.x.length).fill(0);
    const layers = named.map(({ name, values, place: reason }) => {
      values.forEach((value, at) => { sums[at] += value; });
      return { name, values: sums.slice(), raw: values, shade: reason === null ? colour('soft') : colour('r' + reason), fill: 'solid' };
    });
    overTime(place, { core, series: layers.reverse(), unit: '%' });
  }

  /** 1, 10, 100, … */
  function decades(most) {
    const ticks = [1];
    while (ticks[ticks.length - 1] * 10 <= most * 1.5) ticks.push(ticks[ticks.length - 1] * 10);
    return ticks;
  }

  function bars(place, { labels, values, unit }, isLog, shade) {
    const total = values.reduce((sum, value) => sum + value, 0);
    const most = Math.max(1, ...values);
    const first = (ticks) => ticks.map((tick) => (Number.isInteger(tick) ? labels[tick] ?? '' : ''));
    mount(place, {
      height: 210,
      cursor: { drag: { x: false, y: false }, points: { show: false } },
      scales: {
        x: { time: false, range: () => [-0.6, labels.length - 0.4] },
        y: isLog ? { distr: 3, range: () => [0.5, most * 1.5] } : { range: () => [0, most * 1.05] },
      },
      axes: [
        { ...axis((u, ticks) => first(ticks), 30), incrs: [1, 2, 5, 10, 20, 50], grid: { show: false } },
        { ...axis((u, ticks) => ticks.map((tick) => compact.format(tick)), 52), ...(isLog ? { splits: () => decades(most) } : {}) },
      ],
      series: [
        { label: unit, value: (u, value) => (value == null ? '–' : labels[value]) },
        {
          label: 'count', stroke: shade, fill: shade + 'b0', width: 1, points: { show: false },
          paths: uPlot.paths.bars({ size: [0.8, 60], align: 0 }), fillTo: isLog ? 0.5 : 0,
          value: (u, value) => (value == null ? '–' : number.format(value) + ' (' + rounded((100 * value) / total) + ' %)'),
        },
      ],
    }, [labels.map((label, index) => index), values]);
  }

  function element(kind, text) {
    const made = document.createElement(kind);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  /** A choice above a plot; the plot is drawn anew when it changes. */
  function chooser(place, names, selected, draw) {
    const controls = element('div');
    controls.className = 'controls';
    const select = element('select');
    names.forEach((name, index) => {
      const option = element('option', name);
      option.value = index;
      select.append(option);
    });
    select.value = selected;
    select.setAttribute('aria-label', 'what is shown');
    const canvas = element('div');
    controls.append(select);
    place.append(controls, canvas);
    const redraw = () => {
      forget(canvas);
      canvas.replaceChildren();
      draw(canvas, Number(select.value), controls);
    };
    select.addEventListener('change', () => {
      place.dataset.choice = select.value;
      redraw();
    });
    redraw();
    return redraw;
  }

  function forget(place) {
    for (let index = charts.length - 1; index >= 0; index--) {
      if (charts[index].place !== place) continue;
      charts[index].chart.destroy();
      charts.splice(index, 1);
    }
  }

  function distributions(place, all, shade) {
    let redraw = null;
    const log = element('input');
    log.type = 'checkbox';
    log.checked = place.dataset.log !== 'no';
    log.addEventListener('change', () => {
      place.dataset.log = log.checked ? 'yes' : 'no';
      redraw();
    });
    redraw = chooser(place, all.map(({ name }) => name), Number(place.dataset.choice ?? 0), (canvas, index, controls) => {
      if (!log.parentElement) {
        const label = element('label');
        label.append(log, ' logarithmic');
        controls.append(label);
      }
      bars(canvas, all[index], log.checked, shade);
    });
  }

  /** The counter with the most to tell at first sight: a miss, else the last. */
  function firstCounter(core) {
    const found = core.counters.findIndex(({ name }) => /miss|mispred/.test(name));
    return found < 0 ? core.counters.length - 1 : found;
  }

  const drawings = {
    ipc: (place, core) => overTime(place, { core, series: [{ name: 'IPC', values: core.ipc, shade: colour('c0'), fill: true }], height: 220 }),
    stalls: (place, core) => stacked(place, core, core.stalls),
    flushes: (place, core) => overTime(place, {
      core, series: core.flushes.map(({ name, values }, index) => ({ name, values, shade: index === 0 ? colour('flush') : colour('c1'), fill: index === 0 })), height: 190,
    }),
    buffers: (place, core) => overTime(place, { core, series: core.buffers.map(({ name, values }, index) => ({ name, values, shade: palette(index + 4) })) }),
    counters: (place, core) => chooser(place, core.counters.map(({ name }) => name), place.dataset.choice ?? firstCounter(core), (canvas, index) =>
      overTime(canvas, { core, series: [{ ...core.counters[index], shade: colour('c5'), fill: true }] })),
    latency: (place, core) => distributions(place, core.latency, colour('latency')),
    occupancy: (place, core) => distributions(place, core.occupancy, colour('buffer')),
    cores: (place) => {
      // Of cores with the same intervals; others have their own axis.
      const [first] = cores;
      const same = cores.filter(({ x, interval }) => interval === first.interval && x.length === first.x.length && x[0] === first.x[0]);
      if (first.x.length > 1) overTime(place, { core: first, series: same.map(({ name, ipc }, index) => ({ name, values: ipc, shade: palette(index) })), height: 240 });
    },
  };

  const places = [...document.querySelectorAll('[data-plot]')];
  const drawn = new Set();
  function draw(place) {
    const core = cores[place.dataset.core ?? 0];
    forgetAll(place);
    place.replaceChildren();
    drawings[place.dataset.plot](place, core);
    drawn.add(place);
  }
  function forgetAll(place) {
    for (const { place: at } of charts.slice()) if (place.contains(at)) forget(at);
  }
  cores.forEach((core, index) => { core.sync = 'core' + index; });

  // Plots far down the page are drawn when they come near.
  const watcher = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting && !drawn.has(target)) draw(target);
  }, { rootMargin: '800px' });
  for (const place of places) watcher.observe(place);
  addEventListener('beforeprint', () => { for (const place of places) if (!drawn.has(place)) draw(place); });

  const resized = new ResizeObserver(() => {
    for (const { chart, place } of charts) {
      const width = Math.max(200, place.clientWidth);
      if (width !== chart.width) chart.setSize({ width, height: chart.height });
    }
  });
  resized.observe(document.querySelector('main'));

  const redraw = () => { for (const place of [...drawn]) draw(place); };
  const prefersDark = matchMedia('(prefers-color-scheme: dark)');
  prefersDark.addEventListener('change', redraw);
  const button = document.getElementById('theme');
  button.hidden = false;
  button.addEventListener('click', () => {
    const isDark = root.dataset.theme ? root.dataset.theme === 'dark' : prefersDark.matches;
    root.dataset.theme = isDark ? 'light' : 'dark';
    redraw();
  });
})();
`;
