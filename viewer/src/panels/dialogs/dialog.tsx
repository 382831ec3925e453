/** A window above the picture. It takes the keys before anything is painted: what is typed immediately goes into it. Tab stays in it. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface DialogProps {
  readonly title: string;
  readonly wide?: boolean;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

const FOCUSABLE = 'a[href], button:not(:disabled), input:not(:disabled), select, textarea, [tabindex="0"]';

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
      <div
        ref={box}
        class={wide ? 'dialog wide' : 'dialog'}
        role="dialog"
        aria-modal="true"
        aria-label={title}
        tabIndex={-1}
        onKeyDown={(event) => event.key === 'Tab' && stay(event, box.current!)}
      >
        {children}
      </div>
    </div>
  );
}

/** From the last element to the first, and back. */
function stay(event: KeyboardEvent, box: HTMLElement): void {
  const all = [...box.querySelectorAll<HTMLElement>(FOCUSABLE)].filter((one) => one.offsetParent !== null);
  const [first, last] = [all[0], all.at(-1)];
  if (!first || !last) {
    event.preventDefault();
    return;
  }
  const at = document.activeElement;
  if (event.shiftKey ? at === first || at === box : at === last) {
    event.preventDefault();
    (event.shiftKey ? last : first).focus();
  }
}
