/** Starts the page of two runs. */
import { effect } from '@preact/signals';
import { render } from 'preact';
import { threadProblem } from '../data/problems.js';
import { Thread } from '../page/threads/thread.js';
import { App } from './app.js';
import { elfAddress, originOf } from './origins.js';
import type { CompareReport, CompareRequest } from './protocol.js';
import {
  alignment,
  arrangement,
  costs,
  differences,
  functions,
  isCompared,
  isUnfinished,
  pairCount,
  pairs,
  problems,
  place,
  placeRow,
  progress,
  reports,
  tab,
  threshold,
  totals,
  traces,
} from './store.js';

function take(report: CompareReport): void {
  switch (report.type) {
    case 'opened':
      if (!report.isComplete) isUnfinished.value = true;
      return;
    case 'pairs':
      pairs.append(report.columns, report.count);
      pairCount.value = pairs.count;
      return;
    case 'differences':
      if (report.list.length > 0) differences.value = [...differences.value, ...report.list];
      return;
    case 'progress':
      progress.value = report.part;
      totals.value = report.totals;
      return;
    case 'costs':
      costs.value = report.lines;
      functions.value = report.functions;
      return;
    case 'compared':
      totals.value = report.totals;
      progress.value = 1;
      isCompared.value = true;
      return;
    case 'statistics':
      reports.value = { ...reports.value, [report.side]: report.report };
      return;
    default:
      problems.value = [...problems.value, report.problem];
  }
}

function start(): void {
  const { a, b } = traces;
  if (!a || !b) {
    const what = 'This page compares two traces, and its address names fewer.';
    const advice = 'Open it with uscope view A B, or with ?a=URL&b=URL.';
    problems.value = [{ code: 'VIEW_NO_TRACE', what, advice, isFatal: true }];
    return;
  }
  document.title = `${a.name}, ${b.name} – µScope`;
  const thread = new Thread('compare-data.js', [], 'compare', take, (what) => {
    problems.value = [...problems.value, threadProblem(what)];
  });
  const request: CompareRequest = {
    type: 'compare',
    a: originOf(a),
    b: originOf(b),
    coreA: null,
    coreB: null,
    elf: elfAddress(),
  };
  thread.post(request);
}

const light = matchMedia('(prefers-color-scheme: light)');
const useTheme = (): void => {
  document.documentElement.dataset.theme = light.matches ? 'light' : 'dark';
};
light.addEventListener('change', useTheme);
useTheme();

start();
const root = document.getElementById('app')!;
root.replaceChildren();
if (traces.a && traces.b) render(<App />, root);
else {
  const [{ code, what, advice } = { code: '', what: '', advice: '' }] = problems.value;
  const said = document.createElement('p');
  said.className = 'problem';
  said.textContent = `${code}: ${what} ${advice}`;
  root.append(said);
}

/** The address holds what is chosen. */
effect(() => {
  const parts = new URLSearchParams({
    align: alignment.value,
    show: arrangement.value,
    tab: tab.value,
    cycles: String(threshold.value),
  });
  history.replaceState(null, '', `#${parts}`);
});

/** For tests, and for users who drive the page from its console. */
Object.assign(window, {
  __compare: {
    pairs,
    place: () => ({ retired: place.value, row: placeRow.value }),
    totals: () => totals.value,
    isCompared: () => isCompared.value,
    differences: () => differences.value,
    costs: () => costs.value,
    functions: () => functions.value,
    reports: () => reports.value,
    problems: () => problems.value,
  },
});
