import { oneAtATime } from '@coplay/core/checks';
import { describe, expect, it } from 'vitest';

describe('oneAtATime', () => {
  it('runs tasks in the order in which they were given, also after one that failed', async () => {
    const events: string[] = [];
    const inTurn = oneAtATime();
    const task = (name: string, turns: number) => async () => {
      events.push(`${name} begins`);
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      events.push(`${name} ends`);
      if (name === 'b') throw new Error('b failed');
      return name;
    };
    const results = await Promise.allSettled([inTurn(task('a', 9)), inTurn(task('b', 5)), inTurn(task('c', 0))]);
    expect(events).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
    expect(results).toMatchObject([{ value: 'a' }, { reason: new Error('b failed') }, { value: 'c' }]);
  });
});
