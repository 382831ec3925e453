/** The panel, whose code is fetched when it is opened first. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { loadPart, loadStyle } from '../../model/load.js';
import type * as onDemand from './on-demand.js';

const loaded = signal<typeof onDemand | null>(null);
const problem = signal<string | null>(null);

export function SqlLater() {
  useEffect(() => {
    if (!loaded.value) void load();
  }, []);
  const { Sql } = loaded.value ?? {};
  if (Sql) return <Sql />;
  return problem.value === null ? null : <p class="flush">{problem.value}</p>;
}

async function load(): Promise<void> {
  try {
    const [part] = await Promise.all([loadPart<typeof onDemand>('sql'), loadStyle('sql.css')]);
    loaded.value = part;
  } catch (error) {
    problem.value = String(error);
  }
}
