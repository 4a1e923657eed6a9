/**
 * HOP+ that imagines with the rules instead of a learned world model:
 *
 *   npx tsx --conditions=@coplay/source examples/rules-simulator.ts
 *
 * `worldModel: 'rules'` works in any game: rollouts record the game's states, and imagined episodes start from them.
 * No world model has to be learned, so imagination starts after `startUpdates` updates. The rules show the effect of a
 * perfect world model. Seeds differ: some pairs learn to hunt the stag, others the hare.
 */
import type { Metrics } from '@coplay/core';
import { matrixGame } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { hopPlusAgent, selfPlay } from '@coplay/trainers';

const game = matrixGame({ kind: 'stag-hunt', maxSteps: 10 });

const agents = game.agents.map((id) =>
  hopPlusAgent({
    game,
    id,
    ppo: { learningRate: 3e-3 },
    network: mlp({ hidden: [32] }),
    worldModel: 'rules',
    imagined: { horizon: 5, ratio: 2, startUpdates: 1 }, // about two imagined steps for each real one
    moa: { minRows: 128 }, // models of the co-player's actions: the game names no goals
    omg: false,
  }),
);
const watch = {
  start: () => {},
  write: ({ update, metrics }: { update: number; metrics: Metrics }) => {
    if (update % 4 !== 0) return;
    const real = (metrics['episode/return_mean'] ?? NaN) / game.maxSteps; // missing where no episode ended
    const imagined = metrics['agent_0/imagined/reward_mean'] ?? NaN; // missing where nothing was imagined
    console.log(`update ${update}: reward of a round ${real.toFixed(2)}, imagined ${imagined.toFixed(2)}`);
  },
  close: () => {},
};
const run = selfPlay({ game, agents, envs: 16, steps: 16, seed: 1, log: [watch] });
await run.train({ envSteps: process.env['COPLAY_QUICK'] ? 1_024 : 6_144 });
const mean = (await run.evaluate({ episodes: 200 })).mean / game.maxSteps;
console.log(`Reward of a round after training: ${mean.toFixed(2)} (both hunt the stag: 4, both the hare: 2)`);
run.dispose();
