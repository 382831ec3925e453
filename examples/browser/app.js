/** A trace in a page: from a URL, of which only the parts needed are fetched, or from a file chosen by the user. */
import { blobSource, httpSource, openTrace } from 'uscope/reader';

const MAX_EVENTS = 100;
const MAX_SLOTS = 8;
const POLL_MS = 500;

const element = (id) => document.getElementById(id);

/** The trace on show, and what ends with it. */
let shown = null;

async function show(source) {
  const trace = await openTrace(source, { onWarning: ({ message }) => console.warn(message) });
  clearInterval(shown?.timer);
  await shown?.trace.close();
  shown = { trace, timer: undefined };
  showInfo(trace);
  await showState(trace);
  await showEvents(trace);
  if (!trace.isComplete) shown.timer = setInterval(() => guarded(() => follow(trace)), POLL_MS);
}

/** A trace still being written: looks for what was committed since. */
async function follow(trace) {
  const { newSegments, finalized } = await trace.poll();
  if (trace !== shown?.trace) return;
  if (finalized) clearInterval(shown.timer);
  if (newSegments > 0 || finalized) showInfo(trace);
}

function showInfo(trace) {
  fill('info', [
    ['format', trace.version],
    ['state', trace.isComplete ? 'complete' : 'being written'],
    ['time', `${trace.totalTimePs} ps`],
    ['segments', trace.segmentCount],
    ...trace.dut,
    ...trace.schema.clocks.map((clock) => ['clock', `${clock.name} ${clock.periodPs} ps`]),
    ...trace.schema.storages.map((storage) => ['storage', `${storage.name}[${storage.numSlots}]`]),
  ]);
}

async function showState(trace) {
  const state = await trace.stateAt(BigInt(element('time').value));
  fill(
    'state',
    trace.schema.storages.map((storage) => {
      const view = state.storage(storage.storageId);
      const slots = [...view.slots()].slice(0, MAX_SLOTS);
      return [
        view.name,
        `${view.occupancy} of ${storage.numSlots}`,
        slots.map((slot) => slotText(view, slot)),
      ];
    }),
  );
}

function slotText(view, slot) {
  const fields = view.def.fields.map(({ name }) => `${name}=${view.field(slot, name)}`);
  return `[${slot}] ${fields.join(' ')}`;
}

async function showEvents(trace) {
  const rows = [];
  for await (const event of trace.events(BigInt(element('from').value))) {
    const fields = Object.entries(event.fields());
    rows.push([
      `${event.timePs} ps`,
      event.name,
      fields.map(([name, value]) => `${name}=${value}`).join(' '),
    ]);
    if (rows.length === MAX_EVENTS) break;
  }
  fill('events', rows);
}

/** Rows of cells; a cell that is a list has one line for each item. */
function fill(id, rows) {
  const table = element(id);
  table.replaceChildren();
  for (const cells of rows) {
    const row = table.insertRow();
    for (const cell of cells) {
      const box = row.insertCell();
      for (const line of [cell].flat()) box.append(String(line), document.createElement('br'));
    }
  }
}

/** Shows what goes wrong: its message has a code and says what to do. */
async function guarded(action) {
  element('problem').textContent = '';
  try {
    await action();
  } catch (error) {
    element('problem').textContent = error.message;
  }
}

function onSubmit(id, action) {
  element(id).addEventListener('submit', (event) => {
    event.preventDefault();
    guarded(action);
  });
}

onSubmit('from-url', () => show(httpSource(element('url').value)));
onSubmit('state-form', async () => shown && showState(shown.trace));
onSubmit('events-form', async () => shown && showEvents(shown.trace));
element('file').addEventListener('change', () => {
  const [file] = element('file').files;
  if (file) guarded(() => show(blobSource(file)));
});
guarded(() => show(httpSource(element('url').value)));
