/** A leaf in which two JSON values differ. */
export interface Difference {
  /** Its keys, joined by dots: `game.options.size` */
  readonly path: string;
  readonly theirs: unknown;
  readonly ours: unknown;
}

/** The leaves in which two JSON values differ. */
export function differences(theirs: unknown, ours: unknown, path = ''): Difference[] {
  if (isObject(theirs) && isObject(ours)) {
    const keys = new Set([...Object.keys(theirs), ...Object.keys(ours)]);
    return [...keys].flatMap((key) => differences(theirs[key], ours[key], path === '' ? key : `${path}.${key}`));
  }
  return theirs === ours ? [] : [{ path, theirs, ours }];
}

/** Records and lists, which have indices for keys. */
function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object';
}
