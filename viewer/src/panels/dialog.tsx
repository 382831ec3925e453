/** A window above the picture. It takes the keys before anything is painted: what is typed at once goes into it. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

export interface DialogProps {
  readonly title: string;
  readonly wide?: boolean;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Dialog({ title, wide, onClose, children }: DialogProps) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    (box.current?.querySelector<HTMLElement>('input') ?? box.current)?.focus();
    return () => before?.focus?.();
  }, []);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: clicking beside the window closes it; Esc does the same
    // biome-ignore lint/a11y/useKeyWithClickEvents: as above
    <div class="backdrop" onClick={(event) => event.target === event.currentTarget && onClose()}>
      <div ref={box} class={wide ? 'dialog wide' : 'dialog'} role="dialog" aria-modal="true" aria-label={title} tabIndex={-1}>
        {children}
      </div>
    </div>
  );
}
