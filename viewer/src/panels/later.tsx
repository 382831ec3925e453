/** Components whose code is a part of the page's script: their places are empty until it is there. */
import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { loadPart, loadStyle } from '../model/load.js';
import type * as onDemand from './on-demand.js';

type Panels = typeof onDemand;
/** What a component takes; of what is none: nothing fits. */
type PropsOf<K extends keyof Panels> = Panels[K] extends (props: infer P) => preact.JSX.Element | null ? P : never;

const loaded = signal<Panels | null>(null);

/** @throws Error where the server does not give it */
export async function loadPanels(): Promise<Panels> {
  if (loaded.value) return loaded.value;
  const [panels] = await Promise.all([loadPart<Panels>('panels'), loadStyle('panels.css')]);
  loaded.value = panels;
  return panels;
}

/** Before the first picture is here: null. */
export const panelsNow = (): Panels | null => loaded.value;

/** The component, fetched with its first use. */
export function later<K extends keyof Panels>(name: K): ComponentType<PropsOf<K>> {
  return (props) => {
    const panels = loaded.value;
    if (panels) {
      const Panel = panels[name] as ComponentType<PropsOf<K>>;
      return <Panel {...props} />;
    }
    void loadPanels().catch(() => undefined);
    return null;
  };
}
