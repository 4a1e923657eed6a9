import { createGenerator, gameContract, parallelEnv, splitSeed, vectorEnv } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Play } from './play';
import { settings } from './stag-hunt-arbitrary';

const runs = { numRuns: 60 };

/** Hunts when it may, mostly; otherwise any action at all. */
function act(mask: ArrayLike<number>, random: { uniform(): number; integer(n: number): number }): number {
  for (const hunt of [5, 6]) if (mask[hunt] === 1 && random.uniform() < 0.5) return hunt;
  return random.integer(7);
}

test('random settings keep the contract of games', { tags: ['slow'] }, () => {
  fc.assert(
    fc.property(settings, fc.nat(), (options, seed) => {
      expect(gameContract(stagHunt(options), { episodes: 1, seed, allocation: false })).toEqual([]);
    }),
    { numRuns: 20 },
  );
});

test('conservation: what was paid up to any step is what was caught up to it, and nobody catches twice', () => {
  fc.assert(
    fc.property(settings, fc.nat(), (options, seed) => {
      const random = createGenerator(seed);
      const game = stagHunt({ ...options, stepReward: 0 });
      const play = new Play(game, random.split(1)).start();
      const preyLeft = () => ({ stags: play.plane(0, 'stags').length, hares: play.plane(0, 'hares').length });
      // With a limited view the planes don't show all prey: count them in the picture.
      const count = (kind: string) => game.scene!(play.state, 0).items.filter((item) => item.kind === kind).length;
      if (options.viewRadius === false) expect(preyLeft()).toEqual({ stags: count('stag'), hares: count('hare') });
      let paid = 0;
      const catches = new Array<number>(options.agents).fill(0);
      while (!play.isOver()) {
        const { rewards, caughtHare, caughtStag, terminated } = play.step(
          game.agents.map((_, i) => act(play.mask(i), random)),
        );
        paid += rewards.reduce((sum, reward) => sum + reward, 0);
        const stagsCaught = options.stags - count('stag');
        const haresCaught = options.hares - count('hare');
        expect(paid).toBeCloseTo(stagsCaught * options.stagReward + haresCaught * options.hareReward, 4);
        for (let i = 0; i < catches.length; i++) catches[i] += caughtHare[i] + caughtStag[i];
        expect(catches).toEqual(terminated);
      }
    }),
    runs,
  );
});

test('with one stag of 10 and equal strengths nobody returns more than 5', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 8 }), fc.nat(), (agents, seed) => {
      const random = createGenerator(seed);
      const play = new Play(stagHunt({ size: 4, agents, stags: 1, hares: 4, maxSteps: 100 }), random.split(1)).start();
      const returns = new Array<number>(agents).fill(0);
      while (!play.isOver()) {
        const { rewards } = play.step(play.game.agents.map((_, i) => act(play.mask(i), random)));
        for (let i = 0; i < agents; i++) returns[i] += rewards[i];
      }
      for (const sum of returns) expect(sum).toBeLessThanOrEqual(5);
    }),
    runs,
  );
});

test('mask completeness: exactly the actions of the mask are not counted as illegal', () => {
  fc.assert(
    fc.property(settings, fc.nat(), (options, seed) => {
      const random = createGenerator(seed);
      const game = stagHunt(options);
      const play = new Play(game, random.split(1)).start();
      const stay = game.agents.map(() => 4);
      for (let t = 0; t < 8 && !play.isOver(); t++) {
        const before = play.state.slice();
        game.agents.forEach((_, agent) => {
          if (!game.isActive(before, 0, agent)) return;
          const mask = play.mask(agent);
          const tried = Array.from({ length: 7 }, (_, action) => {
            play.state.set(before);
            return 1 - play.step(stay.with(agent, action)).illegal[agent];
          });
          play.state.set(before);
          expect(tried).toEqual(mask);
        });
        play.step(game.agents.map((_, i) => act(play.mask(i), random)));
      }
    }),
    runs,
  );
});

test('an illegal action has exactly the effect of STAY', () => {
  fc.assert(
    fc.property(settings, fc.nat(), (options, seed) => {
      const random = createGenerator(seed);
      const game = stagHunt({ ...options, previousActions: false });
      const play = new Play(game, random.split(1)).start();
      const twin = new Play(game, random.split(1)).start();
      while (!play.isOver()) {
        const masks = game.agents.map((_, i) => play.mask(i));
        const isLegal = (action: number, i: number) => masks[i][action] === 1;
        const active = game.agents.map((_, i) => game.isActive(play.state, 0, i));
        const actions = masks.map((mask) => act(mask, random));
        const { illegal, ...one } = play.step(actions);
        const { illegal: none, ...two } = twin.step(actions.map((action, i) => (isLegal(action, i) ? action : 4)));
        expect(two).toEqual(one);
        expect(twin.state).toEqual(play.state);
        expect(illegal).toEqual(actions.map((action, i) => (active[i] && !isLegal(action, i) ? 1 : 0)));
        expect(none).not.toContain(1);
      }
    }),
    runs,
  );
});

describe('determinism', () => {
  test('batch = singles: environment i of a batch is the single environment of the i-th split, over whole episodes', {
    tags: ['slow'],
  }, () => {
    fc.assert(
      fc.property(settings, fc.nat(), fc.integer({ min: 1, max: 5 }), (options, seed, envs) => {
        const game = stagHunt(options);
        const A = game.agents.length;
        const batch = vectorEnv(game, { envs, seed });
        const singles = Array.from({ length: envs }, (_, i) => parallelEnv(game, { seed: splitSeed(seed, i) }));
        for (const single of singles) single.reset();
        const random = createGenerator(seed);
        const size = batch.observations['planes'].length / (envs * A);
        for (let t = 0; t < 60; t++) {
          const actions = Int32Array.from({ length: envs * A }, (_, row) => act(batch.masks.subarray(row * 7), random));
          batch.step(actions);
          singles.forEach((single, e) => {
            const played = single.step(
              Object.fromEntries(single.agents.map((id) => [id, actions[e * A + game.agents.indexOf(id)]])),
            );
            const over = batch.ended[e] === 1;
            expect(single.agents.length === 0).toBe(over);
            const seen = over ? batch.finalObservations : batch.observations;
            for (const id of Object.keys(played.rewards)) {
              const row = e * A + game.agents.indexOf(id);
              expect(played.rewards[id]).toBe(batch.result.rewards[row]);
              expect(played.terminations[id]).toBe(batch.result.terminated[row] === 1);
              expect(played.truncations[id]).toBe(batch.result.truncated[row] === 1);
              const planes = seen['planes'].subarray(row * size, (row + 1) * size);
              expect(
                Buffer.compare(
                  Buffer.from(played.observations[id]['planes'] as Uint8Array),
                  Buffer.from(planes as Uint8Array),
                ),
              ).toBe(0);
            }
            if (over) single.reset();
          });
        }
      }),
      { numRuns: 15 },
    );
  });

  test('the same seed twice gives the same whole episodes, another seed others', () => {
    const game = stagHunt({ size: 6, preyMoves: 0.5, obstaclePieces: 3 });
    const stream = (seed: number) => {
      const env = vectorEnv(game, { envs: 3, seed });
      const random = createGenerator(9);
      const states: string[] = [];
      for (let t = 0; t < 200; t++) {
        env.step(Int32Array.from({ length: 12 }, (_, row) => act(env.masks.subarray(row * 7), random)));
        states.push(env.states.join());
      }
      return states;
    };
    expect(stream(5)).toEqual(stream(5));
    expect(stream(5)).not.toEqual(stream(6));
  });

  test('reset(seed), three episodes by autoreset, and again: 1 to 3 differ, 4 to 6 equal them to the bit', () => {
    const game = stagHunt({ size: 8, preyMoves: 0.5 });
    const env = vectorEnv(game, { envs: 1 });
    const episodes = () => {
      env.reset({ seed: 7 });
      const seen: string[] = [];
      while (seen.length < 3) {
        let log = '';
        do {
          log += `${env.states.join()};`;
          env.step(new Int32Array(4).fill(4));
        } while (env.ended[0] === 0);
        seen.push(log);
      }
      return seen;
    };
    const first = episodes();
    expect(new Set(first).size).toBe(3);
    expect(episodes()).toEqual(first);
  });
});

test('layout round trip: any state is written and read back to the bit', () => {
  let asMap = 0;
  let asJson = 0;
  fc.assert(
    fc.property(settings, fc.nat(), (options, seed) => {
      const random = createGenerator(seed);
      const game = stagHunt(options);
      const play = new Play(game, random.split(1)).start();
      const copy = new Int32Array(game.stateSize + 2).fill(99);
      for (;;) {
        const text = play.layout();
        game.readLayout!(text, copy, 1);
        expect(copy.join()).toBe([99, ...play.state, 99].join());
        if (text.startsWith('{')) asJson++;
        else asMap++;
        if (play.isOver()) break;
        play.step(game.agents.map((_, i) => act(play.mask(i), random)));
      }
    }),
    runs,
  );
  expect(Math.min(asMap, asJson)).toBeGreaterThan(50);
});
