/** A line between two parts of the page that can be moved, with the pointer and with arrow keys. */

interface SplitterProps {
  readonly label: string;
  /** `row`: between parts above each other. */
  readonly kind: 'row' | 'column';
  readonly value: number;
  readonly min: number;
  readonly max: number;
  /** 1: the part before the line grows when it moves right or down; -1: the part after it, when it moves left or up. */
  readonly direction: 1 | -1;
  readonly onResize: (value: number) => void;
  readonly class?: string;
  readonly left?: number;
}

const KEY_STEP = 20;

export function Splitter({ label, kind, value, min, max, direction, onResize, class: name, left }: SplitterProps) {
  const isRow = kind === 'row';
  const place = (event: PointerEvent): number => (isRow ? event.clientY : event.clientX);
  const [less, more] = isRow ? ['ArrowUp', 'ArrowDown'] : ['ArrowLeft', 'ArrowRight'];
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that can be moved
    <div
      class={`splitter ${kind} ${name ?? ''}`}
      role="separator"
      aria-label={label}
      aria-orientation={isRow ? 'horizontal' : 'vertical'}
      aria-valuenow={Math.round(value)}
      aria-valuemin={min}
      aria-valuemax={max}
      tabIndex={0}
      style={left === undefined ? {} : { left: `${left}px` }}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        const target = event.currentTarget;
        const start = place(event);
        const move = (moved: PointerEvent): void => onResize(value + direction * (place(moved) - start));
        const stop = (): void => target.removeEventListener('pointermove', move);
        target.addEventListener('pointermove', move);
        target.addEventListener('lostpointercapture', stop, { once: true });
      }}
      onKeyDown={(event) => {
        const step = event.key === less ? -KEY_STEP : event.key === more ? KEY_STEP : 0;
        if (step === 0) return;
        event.preventDefault();
        event.stopPropagation();
        onResize(value + direction * step);
      }}
    />
  );
}
