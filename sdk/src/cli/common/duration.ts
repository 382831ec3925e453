/** Spans of real time for people: `0:07`, `12:30`, `1:02:03`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const part = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const end = part(seconds % 60);
  return hours > 0 ? `${hours}:${part(minutes)}:${end}` : `${minutes}:${end}`;
}
