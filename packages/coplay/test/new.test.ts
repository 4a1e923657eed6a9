import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { coplay } from './command-line';

const folder = mkdtempSync(join(tmpdir(), 'coplay-new-'));

describe('coplay new', () => {
  it('writes a file and prints how to run it', async () => {
    const path = join(folder, 'my-game.ts');
    const { code, out } = await coplay(['new', 'game', 'my-game', '--directory', folder]);
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining(`Run it: npx tsx ${path}\n`) });
    expect(readFileSync(path, 'utf8')).toContain('createMyGame');
  });

  it('prints JSON', async () => {
    const { out } = await coplay(['new', 'study', 'mine', '--directory', folder, '--json']);
    const path = join(folder, 'mine.ts');
    expect(JSON.parse(out)).toEqual({ path, run: `npx tsx ${path}` });
  });

  it('refuses another kind, a name with a path in it, and a file that exists', async () => {
    const other = await coplay(['new', 'world', 'mine', '--directory', folder]);
    expect([other.code, other.err]).toEqual([
      2,
      expect.stringContaining('There is no kind world. Kinds: game, agent, learner, study.'),
    ]);
    const outside = await coplay(['new', 'game', '../mine', '--directory', folder]);
    expect([outside.code, outside.err]).toEqual([1, expect.stringContaining('option name')]);
    const again = await coplay(['new', 'game', 'mine', '--directory', folder]);
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('a file of this name')]);
    expect(existsSync(join(folder, '..', 'mine.ts'))).toBe(false);
  });
});
