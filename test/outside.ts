import { type AnyGame, createGenerator, type ExternalBatch, externalGame, type Game, vectorEnv } from '@coplay/core';
import { actionLayout, copyRow, sizeOf } from '@coplay/core/arrays';

/** What an external game of a test was asked to do. */
export interface Calls {
  opened: number;
  closed: number;
  /** Seeds of episodes, in the order in which they began */
  readonly seeds: number[];
}

/**
 * A game played outside: its rules are another game's, which nobody sees. An episode's randomness is that of a
 * generator made of the episode's seed.
 */
export function outside(game: AnyGame, envs = 2): { readonly game: Game<'int32'>; readonly calls: Calls } {
  const calls: Calls = { opened: 0, closed: 0, seeds: [] };
  const { name, agents, actions, actionNames, observation, maxSteps, infos, options } = game;
  const description = { name: `${name} outside`, agents, actions, actionNames, observation, maxSteps, infos, options };
  const open = (batch: ExternalBatch) => {
    calls.opened++;
    // A batch of one for each environment: its present episode, seeded anew at every start.
    const inside = Array.from({ length: batch.envs }, () => vectorEnv(game, { envs: 1 }));
    const { maskSize, width } = actionLayout(game);
    const rows = agents.length;
    const copyFields = (from: ExternalBatch['observations'], to: ExternalBatch['observations'], e: number) => {
      for (const [field, { shape }] of Object.entries(observation)) {
        copyRow(from[field], 0, to[field], e, rows * sizeOf(shape));
      }
    };
    const begin = (e: number, seed: number) => {
      calls.seeds.push(seed);
      inside[e].reset({ seed });
      copyFields(inside[e].observations, batch.observations, e);
      copyRow(inside[e].masks, 0, batch.masks, e, rows * maskSize);
      copyRow(inside[e].active, 0, batch.active, e, rows);
    };
    return {
      reset: (chosen: readonly number[], seeds: Uint32Array) => {
        for (const e of chosen) begin(e, seeds[e]);
      },
      step: (given: Int32Array | Float32Array, seeds: Uint32Array) => {
        inside.forEach((env, e) => {
          env.step(given.slice(e * rows * width, (e + 1) * rows * width) as Int32Array);
          for (const part of ['rewards', 'terminated', 'truncated'] as const) {
            copyRow(env.result[part], 0, batch.result[part], e, rows);
          }
          for (const info of infos) copyRow(env.result.infos[info], 0, batch.result.infos[info], e, rows);
          batch.ended[e] = env.ended[0];
          copyRow(env.active, 0, batch.active, e, rows);
          copyRow(env.masks, 0, batch.masks, e, rows * maskSize);
          copyFields(env.observations, batch.observations, e);
          if (env.ended[0] === 0) return;
          copyRow(env.finalMasks, 0, batch.finalMasks, e, rows * maskSize);
          copyFields(env.finalObservations, batch.finalObservations, e);
          begin(e, seeds[e]);
        });
      },
      close: () => {
        calls.closed++;
      },
    };
  };
  const made = externalGame({ ...description, external: { envs, open } });
  return { game: made as unknown as Game<'int32'>, calls };
}

/** The seeds that environment `env` of a batch gives its episodes. */
export function episodeSeeds(generatorSeed: number, count: number): number[] {
  const generator = createGenerator(generatorSeed);
  return Array.from({ length: count }, () => generator.uint32());
}
