/** A short picture of any value, for error messages. It never throws. */
export function show(value: unknown): string {
  try {
    const picture = pictureOf(value, 3);
    return picture.length > 400 ? `${picture.slice(0, 397)}...` : picture;
  } catch {
    return `${typeof value} that cannot be read`; // a getter or a proxy threw
  }
}

/** @param depth  how many levels of nested arrays are still shown; a cyclic array has no end */
function pictureOf(value: unknown, depth: number): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return `function ${value.name || '(anonymous)'}`;
  if (value === null || typeof value !== 'object') return String(value);
  if (Array.isArray(value)) {
    if (depth === 0) return '[...]';
    const first = Array.from({ length: Math.min(6, value.length) }, (_, i) => pictureOf(value[i], depth - 1));
    return `[${first.join(', ')}${value.length > 6 ? ', ...' : ''}]`;
  }
  const type = typeNameOf(value);
  if (ArrayBuffer.isView(value)) return `${type}(${'length' in value ? value.length : value.byteLength})`;
  return `${type === 'Object' ? '' : `${type}${versionOf(value)} `}{${firstKeys(value, 6)}}`;
}

/** The package and version that a class of ours is marked with: ` of @coplay/tensor 0.1`. Nothing for others. */
function versionOf(value: object): string {
  const marks = Object.getOwnPropertySymbols(Object.getPrototypeOf(value));
  for (const { description = '' } of marks) {
    const found = /^(@coplay\/[a-z-]+)\/\w+@([\d.]+)$/.exec(description);
    if (found) return ` of ${found[1]} ${found[2]}`;
  }
  return '';
}

function typeNameOf(value: object): string {
  const name: unknown = Object.getPrototypeOf(value)?.constructor?.name;
  return typeof name === 'string' && name !== '' ? name : 'Object';
}

/** Stops after `count` keys, since an object may have millions. */
function firstKeys(value: object, count: number): string {
  const keys: string[] = [];
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    if (keys.length === count) return `${keys.join(', ')}, ...`;
    keys.push(key);
  }
  return keys.join(', ');
}
