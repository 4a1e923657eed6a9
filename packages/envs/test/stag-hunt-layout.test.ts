import { vectorEnv } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import { describe, expect, test } from 'vitest';
import { at, Play } from './play';

const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1 });
const MAP = '1h.\n.#S\n2..';

describe('text maps', () => {
  test('say where everything is', () => {
    const play = new Play(game).start(MAP);
    expect(play.plane(0, 'self')).toEqual(at('00'));
    expect(play.plane(0, 'other_1')).toEqual(at('20'));
    expect(play.plane(0, 'obstacles')).toEqual(at('11'));
    expect(play.plane(0, 'stags')).toEqual(at('12'));
    expect(play.plane(0, 'hares')).toEqual(at('01'));
    expect(play.observe(0)['time']).toEqual([0]);
    expect(play.layout()).toBe(MAP);
  });

  test('indentation and blank lines do not count, and notes follow the map', () => {
    const play = new Play(game).start(`

      .h.
      .#.
      2..

      steps: 7
      left: 1
    `);
    expect(game.elapsed(play.state, 0)).toBe(7);
    expect(game.isActive(play.state, 0, 0)).toBe(false);
    expect(play.layout()).toBe('.h.\n.#.\n2..\nsteps: 7\nleft: 1');
  });

  test('carry the first catch and previous actions where the options use them', () => {
    const play = new Play(stagHunt({ size: 3, agents: 2, stepsAfterFirstHunt: 3, previousActions: true }));
    const text = '.h.\n.#.\n2..\nsteps: 7\nleft: 1\nfirstCatch: 6\npreviousActions: - 3';
    expect(play.start(text).layout()).toBe(text);
    // The observer's own action comes first.
    expect(play.observe(1)['previousActions']).toEqual([0, 0, 0, 1, 0, 0, 0, ...new Array(7).fill(0)]);
    play.step([4, 4]);
    expect(play.step([4, 4]).truncated).toEqual([0, 1]); // 6 + 3
  });

  test('start every environment of a batch that is reset with one, and not the episodes after it', () => {
    const env = vectorEnv(game, { envs: 2, seed: 1 });
    env.reset({ layout: MAP, envs: [1] });
    expect(game.writeLayout!(env.states as Int32Array, game.stateSize)).toBe(MAP);
    expect(game.writeLayout!(env.states as Int32Array, 0)).not.toBe(MAP);
    for (let t = 0; t < game.maxSteps; t++) env.step(new Int32Array(4).fill(4));
    expect([...env.ended]).toEqual([1, 1]);
    expect(game.writeLayout!(env.states as Int32Array, game.stateSize)).not.toBe(MAP);
  });
});

test('the object form says what a map cannot, and comes back as JSON text', () => {
  const layout = { agents: at('12 12'), obstacles: at('11'), stags: at('12'), hares: [], steps: 3 };
  const text = new Play(game).start(layout).layout();
  expect(JSON.parse(text)).toEqual(layout);
  expect(new Play(game).start(text).layout()).toBe(text);
});

test('pictures for renderers show all of it', () => {
  const play = new Play(game).start({ agents: [null, [2, 1]], obstacles: at('11'), stags: at('21'), hares: at('00') });
  expect(game.scene!(play.state, 0)).toEqual({
    rows: 3,
    columns: 3,
    items: [
      { kind: 'obstacle', symbol: '#', row: 1, column: 1 },
      { kind: 'stag', symbol: 'S', row: 2, column: 1 },
      { kind: 'hare', symbol: 'h', row: 0, column: 0 },
      { kind: 'agent', symbol: '2', row: 2, column: 1 },
    ],
  });
});

describe('bad layouts are refused, and the state stays as it was', () => {
  test.each([
    ['1h.\n.#S', /stagHunt layout: expected a map of 3 lines of 3 characters, got 2 lines of 3 characters/],
    ['1h.\n.#S\n2...', /expected a map of 3 lines of 3 characters, got 3 lines of 3 and 4 characters/],
    ['1h.\n.#S\n2.3', /expected the characters \.#Sh12, got "3" in row 2, column 2/],
    ['1h.\n.#S\n2.1', /expected agent 1 once, on the map or in the line "left:", got 2 on the map/],
    ['1h.\n.#S\n...', /expected agent 2 once, on the map or in the line "left:", got 0 on the map/],
    [`${MAP}\nleft: 2`, /expected agent 2 once, .* got 1 on the map, and one that left/],
    [`${MAP}\nleft: 5`, /expected left: agents from 1 to 2, got "5"/],
    [`${MAP}\nstep: 5`, /expected lines below the map named steps, left, .* got "step"/],
    [`${MAP}\nsteps: many`, /stagHunt layout: option steps: .*"many"/],
    [`${MAP}\nsteps: 36`, /expected steps from 0 to maxSteps 35, got 36/],
    [`${MAP}\nfirstCatch: 1`, /expected firstCatch from 0 to 0, got 1/],
    [`${MAP}\npreviousActions: 1 1`, /expected no previousActions, got \[1, 1\]/],
    ['{"agents":', /expected a text map, or JSON of the object form, got SyntaxError/],
    [{ agents: at('00') }, /expected agents: 2 places, null for who has left, got 1/],
    [{ agents: at('00 03') }, /expected agents\[1\] at \[row, column\] from \[0, 0\] to \[2, 2\], got \[0, 3\]/],
    [{ agents: at('00 11'), obstacles: at('11') }, /expected agents\[1\] on a free cell, got obstacles\[0\]/],
    [
      { agents: at('00 11'), stags: at('12'), hares: at('12') },
      /expected hares\[0\] on a cell of its own, got that of stags\[0\]/,
    ],
    [{ agents: at('00 11'), hares: at('12 12') }, /expected hares\[1\] on a cell of its own, got that of hares\[0\]/],
    [{ agents: at('00 11'), hares: [[1]] }, /stagHunt layout: option hares\.0: /],
    [{ agents: at('00 11'), deer: [] }, /stagHunt layout: expected known options only, got the unknown option "deer"/],
    [17, /stagHunt layout: /],
  ])('%j', (layout, message) => {
    const play = new Play(game).start(MAP);
    const before = play.state.slice();
    expect(() => play.start(layout)).toThrow(message);
    expect(play.state).toEqual(before);
  });
});
