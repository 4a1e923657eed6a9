import { describe, expect, it } from 'vitest';
import { MAX_SESSIONS, SessionCache } from './session-cache';

function cacheOf() {
  const released: number[] = [];
  const lines: string[] = [];
  const cache = new SessionCache<{ release(): Promise<void>; readonly id: number }>('compiled function f', (line) =>
    lines.push(line),
  );
  const add = (id: number) => cache.add(`s${id}`, { id, release: async () => void released.push(id) });
  return { cache, add, released, lines };
}

describe('SessionCache', () => {
  it('releases the one that was not used for longest', async () => {
    const { cache, add, released } = cacheOf();
    for (let id = 0; id < MAX_SESSIONS; id++) await add(id);
    expect(cache.get('s0')?.id).toBe(0);
    await add(100);
    expect(released).toEqual([1]);
    expect(cache.get('s1')).toBeUndefined();
    expect(cache.get('s0')?.id).toBe(0);
  });

  it('warns once, when a function is traced for more signatures than are kept', async () => {
    const { cache, add, lines } = cacheOf();
    for (let id = 0; id < MAX_SESSIONS; id++) await add(id);
    await cache.remove('s3');
    await add(3); // the same signature again, for other threads
    expect(lines).toEqual([]);
    for (let id = MAX_SESSIONS; id < 3 * MAX_SESSIONS; id++) await add(id);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /compiled function f was traced for more than 32 sizes .*the last one: s32.*Pad its inputs/,
    );
  });

  it('releases all when cleared', async () => {
    const { cache, add, released } = cacheOf();
    for (let id = 0; id < 3; id++) await add(id);
    await cache.clear();
    expect(released).toEqual([0, 1, 2]);
    expect([...cache.values()]).toEqual([]);
  });
});
