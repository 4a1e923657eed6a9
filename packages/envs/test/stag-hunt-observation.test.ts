import { parallelEnv, vectorEnv } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import { describe, expect, test } from 'vitest';
import { at, Play } from './play';

describe('planes', () => {
  const game = stagHunt({ size: 4 });

  test('have the shape and channels that the game says', () => {
    const names = ['self', 'other_1', 'other_2', 'other_3', 'obstacles', 'stags', 'hares'];
    expect(game.observation['planes']).toEqual({ shape: [4, 4, 7], dtype: 'uint8', kind: 'planes', channels: names });
    expect(game.observation['time'].shape).toEqual([1]);
    expect(Object.keys(game.observation)).toEqual(['planes', 'time']);
  });

  test('begin with the observer, then the others in cyclic order of index', () => {
    const play = new Play(game).start('1234\n....\n....\n....');
    const walkers = (agent: number) =>
      ['self', 'other_1', 'other_2', 'other_3'].map((name) => play.plane(agent, name)[0][1]);
    expect([0, 1, 2, 3].map(walkers)).toEqual([
      [0, 1, 2, 3],
      [1, 2, 3, 0],
      [2, 3, 0, 1],
      [3, 0, 1, 2],
    ]);
  });

  test('an agent that has left: its plane is empty for everyone, it sees the rest as it is, and may only stay', () => {
    const play = new Play(game).start({ agents: at('00 11 22 33'), stags: at('03'), hares: at('00') });
    play.step([6, 4, 4, 4]);
    for (let t = 0; t < 3; t++) {
      expect(play.plane(0, 'self')).toEqual([]);
      expect(play.plane(1, 'other_3')).toEqual([]);
      expect(play.plane(2, 'other_2')).toEqual([]);
      expect(play.plane(3, 'other_1')).toEqual([]);
      expect(play.plane(0, 'other_1')).toEqual(at('11'));
      expect(play.plane(0, 'stags')).toEqual(at('03'));
      expect(play.mask(0)).toEqual([0, 0, 0, 0, 1, 0, 0]);
      play.step([3, 4, 4, 4]);
    }
  });

  test('the same in the batch', () => {
    const env = vectorEnv(game, { envs: 2 });
    env.reset({ layout: { agents: at('00 11 22 33'), hares: at('00') } });
    for (let t = 0; t < 4; t++) {
      env.step(Int32Array.of(6, 4, 4, 4, 6, 4, 4, 4));
      for (let row = 0; row < 8; row++) {
        const plane = (4 - (row % 4)) % 4; // of agent 0, for observer row % 4
        const planes = env.observations['planes'].subarray(row * 112, (row + 1) * 112);
        expect(planes.filter((_, i) => i % 7 === plane)).not.toContain(1);
      }
      expect([...env.masks.subarray(0, 7)]).toEqual([0, 0, 0, 0, 1, 0, 0]);
      expect([...env.active.subarray(0, 4)]).toEqual([0, 1, 1, 1]);
    }
  });
});

describe('a limited view', () => {
  const game = stagHunt({ size: 4, agents: 2, viewRadius: 1 });

  test('shows the cells around the observer, itself in the middle; outside looks like obstacles', () => {
    expect(game.observation['planes'].shape).toEqual([3, 3, 5]);
    const play = new Play(game).start(`
      1h..
      .2#.
      S...
      ...h`);
    expect(play.plane(0, 'self')).toEqual(at('11'));
    expect(play.plane(0, 'other_1')).toEqual(at('22'));
    expect(play.plane(0, 'obstacles')).toEqual(at('00 01 02 10 20'));
    expect(play.plane(0, 'hares')).toEqual(at('12'));
    expect(play.plane(0, 'stags')).toEqual([]);
    expect(play.plane(1, 'other_1')).toEqual(at('00'));
    expect(play.plane(1, 'obstacles')).toEqual(at('12'));
    expect(play.plane(1, 'stags')).toEqual(at('20'));
  });

  test('who has left sees nothing', () => {
    const play = new Play(game).start({ agents: at('00 11'), hares: at('00') });
    play.step([6, 4]);
    expect(play.observe(0)['planes']).toEqual(new Array(45).fill(0));
    expect(play.plane(1, 'other_1')).toEqual([]);
  });
});

test('previous actions: none at first, the observer first, none for who had left before the step', () => {
  const play = new Play(stagHunt({ size: 4, agents: 3, previousActions: true }));
  play.start({ agents: at('00 11 22'), hares: at('11') });
  const chosen = (agent: number) => {
    const values = play.observe(agent)['previousActions'];
    return [0, 1, 2].map((seat) => values.slice(seat * 7, seat * 7 + 7).indexOf(1));
  };
  expect(chosen(0)).toEqual([-1, -1, -1]);
  play.step([0, 6, 3]); // the first is illegal, and that's what it did
  expect(chosen(0)).toEqual([0, 6, 3]);
  expect(chosen(2)).toEqual([3, 0, 6]);
  play.step([1, 4, 2]);
  expect(chosen(0)).toEqual([1, -1, 2]);
});

test('parallelEnv gives arrays that nothing overwrites; those of vectorEnv are views', () => {
  const game = stagHunt({ size: 4, preyMoves: 1 });
  const env = parallelEnv(game, { seed: 2 });
  const kept = [env.reset().observations];
  const copies = [JSON.stringify(kept[0])];
  for (let t = 0; t < 3; t++) {
    const { observations, rewards } = env.step(Object.fromEntries(env.agents.map((id) => [id, 4])));
    kept.push(observations);
    copies.push(JSON.stringify(observations));
    rewards[game.agents[0]] = 99;
  }
  expect(kept.map((seen) => JSON.stringify(seen))).toEqual(copies);
  const batch = vectorEnv(game, { envs: 1, seed: 2 });
  const view = batch.observations['planes'];
  const before = view.join();
  batch.step(new Int32Array(4).fill(4));
  expect(view).toBe(batch.observations['planes']);
  expect(view.join()).not.toBe(before);
});

test('a co-player in any seat of any line-up is shown itself in plane 0', () => {
  const game = stagHunt({ size: 4, hares: 2 });
  const env = vectorEnv(game, { envs: 20, seed: 1 });
  const size = 4 * 4 * 7;
  for (let t = 0; t < 50; t++) {
    for (let row = 0; row < 80; row++) {
      const seat = row % 4;
      const { items } = game.scene!(env.states as Int32Array, Math.floor(row / 4) * game.stateSize);
      const me = items.find((item) => item.kind === 'agent' && item.symbol === String(seat + 1))!;
      const self = Array.from({ length: 16 }, (_, cell) => env.observations['planes'][row * size + cell * 7]);
      expect(self.indexOf(1)).toBe(me ? me.row * 4 + me.column : -1);
    }
    env.step(Int32Array.from({ length: 80 }, (_, row) => (env.masks[row * 7 + 6] === 1 ? 6 : (row + t) % 5)));
  }
});
