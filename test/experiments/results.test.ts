import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compareResults } from '../../bench/harness/stale';
import { root } from '../../scripts/lib/workspaces';

/** Results that are known to have come apart from their experiment, and why: `studies/moa` and a sentence. */
const stale: Record<string, string> = JSON.parse(readFileSync(join(root, 'bench/stale.json'), 'utf8'));

describe.each([
  ['bench', 'bench'],
  ['study', 'studies'],
] as const)('committed results of each %s', (kind, folder) => {
  it('are those of its code, bars, options and seeds as they are now, or listed in bench/stale.json', async () => {
    const findings = await compareResults({ kind, folder: join(root, folder) });
    const apart = findings.filter(({ problems }) => problems.length > 0);
    const listed = Object.keys(stale).filter((key) => key.startsWith(`${folder}/`));
    const unlisted = apart.filter(({ name }) => !listed.includes(`${folder}/${name}`));
    expect(unlisted.map(({ name, problems }) => `${name}: ${problems.join('; ')}`)).toEqual([]);
    const isApart = (key: string) => apart.some(({ name }) => `${folder}/${name}` === key);
    expect(listed.filter((key) => !isApart(key))).toEqual([]);
  });
});
