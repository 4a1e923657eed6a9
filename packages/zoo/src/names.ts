/** The names that are most like another one, most like it first. */
export function closestNames(name: string, names: readonly string[], count = 3): string[] {
  const distances = names.map((other) => [other, editDistance(name, other)] as const);
  const sorted = distances.sort(([, a], [, b]) => a - b);
  return sorted.slice(0, count).map(([other]) => other);
}

/** How many characters must be added, removed or replaced (Levenshtein 1966). */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i); // distances of '' to the beginnings of `to`
  for (let i = 0; i < from.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j++) {
      const replaced = row[j]! + (from[i] === to[j] ? 0 : 1);
      next.push(Math.min(replaced, row[j + 1]! + 1, next[j]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
}
