import { agentRows, moaRows, splitEpisodes } from '@coplay/buffers';
import {
  type Agent,
  createGenerator,
  createRollout,
  type Experience,
  type Game,
  splitSeed,
  streamSeed,
  vectorEnv,
} from '@coplay/core';
import { type MoaEvaluation, moaEvaluation } from '@coplay/diagnostics';
import { createMoa, type MoaLearner, type MoaOptions, ppoAgent, ppoPresets, withInsight } from '@coplay/trainers';
import { feedEverything } from './leaving';

/** A model of a co-player that learns by PPO, and the best possible predictor that knows that co-player's policy. */
export interface SelfPlayPoint {
  /** Environment steps that the players have learned from */
  readonly envSteps: number;
  readonly model: MoaEvaluation;
  /** Of the predictor that knows the probabilities which the actions were drawn from */
  readonly optimal: MoaEvaluation;
}

/** How models learn next to their players. */
export const ONLINE_RECIPES = {
  /** The library's: a pass over the newest 4,096 rows whenever 512 are new. */
  default: {},
  /** The paper's code: 15 passes over 1,000 rows in minibatches of 512, then the buffer is emptied. */
  emptied: { capacity: 2048, minRows: 1000, epochs: 15, minibatchSize: 512, keep: 'empty', roomPerGoal: false },
} as const satisfies Record<string, Partial<MoaOptions>>;

const ENVS = 32;
const STEPS = 32;

/** Steps that hold three episodes of the longest kind. */
const WHOLE = 105;

/** Rollouts from one evaluation to the next. */
const EVERY = 10;

/**
 * Four PPO agents learn in self-play, and the first one's model of the second learns at the same time from the same
 * experience.
 *
 * @param recipe     how the model learns
 * @param sabotaged  the model is fed the steps after its co-player left, as `feedEverything` says
 * @returns an evaluation after each {@link EVERY} rollouts, each on fresh games that nothing has learned from
 */
export async function learnInSelfPlay(
  game: Game,
  recipe: keyof typeof ONLINE_RECIPES,
  sabotaged: boolean,
  envSteps: number,
  seed: number,
): Promise<SelfPlayPoint[]> {
  const players = game.agents.map((id) => ppoAgent({ game, id, ppo: ppoPresets.stagHunt }));
  const generator = createGenerator(streamSeed(seed, 'train/learners'));
  for (const { learner } of players) await learner.initialise(generator.fork());
  const table = players.map((player) => withInsight(player as unknown as Agent));
  const rollout = createRollout(vectorEnv(game, { envs: ENVS, seed: streamSeed(seed, 'train/env') }), table, generator);
  const moa = createMoa({ game, id: game.agents[0], goals: 'none', ...ONLINE_RECIPES[recipe] });
  await moa.initialise(generator.fork());
  const history: SelfPlayPoint[] = [];
  const rollouts = Math.ceil(envSteps / (ENVS * STEPS));
  for (let r = 0; r < rollouts; r++) {
    const experience = await rollout.collect(STEPS);
    if (sabotaged) feedEverything(moa, experience);
    else moa.push(experience);
    await moa.update(generator);
    for (const { learner } of players) await learner.update({ experience, progress: r / rollouts, generator });
    if (r % EVERY === EVERY - 1) {
      const unseen = vectorEnv(game, { envs: 64, seed: splitSeed(streamSeed(seed, 'evaluate/env'), r) });
      const fresh = createRollout(unseen, table, generator);
      const point = await evaluateOn(moa, game, await fresh.collect(WHOLE));
      history.push({ envSteps: (r + 1) * ENVS * STEPS, ...point });
    }
  }
  moa.dispose();
  for (const { learner } of players) learner.dispose();
  return history;
}

async function evaluateOn(moa: MoaLearner, game: Game, experience: Experience) {
  const seat = 1;
  const rows = moaRows(experience, seat);
  const labels = rows['actions'].data as Int32Array;
  const classes = game.actionNames;
  // The same whole episodes, step by step in the same order, which the MOA's rows leave the policy out of.
  const { policy } = agentRows(splitEpisodes(experience), seat);
  const scores = await moa.predictRows(game.agents[seat], rows);
  return {
    model: moaEvaluation({ classes, scores, labels }),
    optimal: moaEvaluation({ classes, scores: policy.data as Float32Array, labels }),
  };
}
