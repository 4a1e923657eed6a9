/** A whole number with commas: `128,000`. */
export function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Seconds as `0:42`, `12:05` or `3:02:11`; rounded up, so that 0:00 means done. */
export function formatDuration(seconds: number): string {
  const total = Math.ceil(seconds);
  const two = (value: number) => String(value).padStart(2, '0');
  const hours = Math.floor(total / 3600);
  const minutes = Math.floor(total / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(total % 60)}` : `${minutes}:${two(total % 60)}`;
}

/** A line that fits into `width` characters: cut, with an ellipsis, where it is longer. */
export function fitted(line: string, width: number): string {
  return line.length <= width ? line : `${line.slice(0, width - 1)}…`;
}
