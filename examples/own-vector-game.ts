/**
 * A game of your own with numbers as observation, and HOP+ with a world model that it learns:
 *
 *   npx tsx --conditions=@coplay/source examples/own-vector-game.ts
 *
 * Three boats fish one pond, and each is paid the whole catch. Every day each boat takes two fifths of the fish or
 * leaves them. The fish that are left multiply. The game has no grid, so the world model is one of observations. It
 * needs only the kind of the observation's field.
 *
 * In this easy game imagination saves no steps. Over seeds 1 to 3, PPO earned 4.53 to 4.56 and HOP+ 4.46 to 4.54.
 */
import { assertGame, evaluate, type Game, type Metrics } from '@coplay/core';
import { randomAgent } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { hopPlusAgent, ppoAgent, selfPlay } from '@coplay/trainers';

const LEAVE = 0;
const TAKE = 1;

// Layout of one environment's state.
const DAY = 0;
const FISH = 1; // 0 to 1, a full pond
const STATE_SIZE = 2;

function pond(boats: number, days: number): Game<'float32'> {
  return {
    name: 'pond',
    agents: Array.from({ length: boats }, (_, i) => `boat_${i}`),
    actions: 2,
    actionNames: ['leave', 'take'],
    observation: { pond: { shape: [2], dtype: 'float32', kind: 'vector' } }, // numbers of about 1
    stateType: 'float32',
    stateSize: STATE_SIZE,
    maxSteps: days,
    infos: [],
    options: { boats, days },

    reset(state, offset) {
      state[offset + DAY] = 0;
      state[offset + FISH] = 1;
    },

    step(state, offset, actions, actionsOffset, _generator, result, row) {
      let takers = 0;
      for (let i = 0; i < boats; i++) if (actions[actionsOffset + i] === TAKE) takers++;
      const fish = state[offset + FISH];
      const left = fish * 0.6 ** takers;
      const isLast = ++state[offset + DAY] >= days;
      state[offset + FISH] = left + 0.9 * left * (1 - left);
      for (let at = row * boats; at < (row + 1) * boats; at++) {
        result.rewards[at] = fish - left;
        result.terminated[at] = 0;
        result.truncated[at] = isLast ? 1 : 0;
      }
    },

    legal(_state, _offset, _agent, mask, maskOffset) {
      mask[maskOffset + LEAVE] = 1;
      mask[maskOffset + TAKE] = 1;
    },

    observe(state, offset, _agent, out, row) {
      out['pond'][2 * row] = state[offset + DAY] / days;
      out['pond'][2 * row + 1] = 2 * state[offset + FISH];
    },

    isActive: () => true,
    elapsed: (state, offset) => state[offset + DAY],
  };
}

const game = pond(3, 20);
assertGame(game);

const envSteps = process.env['COPLAY_QUICK'] ? 1_024 : 12_288;
const ppo = { learningRate: 3e-3 };
const network = mlp({ hidden: [32] });
const learners = {
  // HOP+'s policy sees the previous actions of all boats, so PPO's does too.
  PPO: game.agents.map((id) => ppoAgent({ game, id, ppo, network, inputs: { previousActions: true } })),
  'HOP+': game.agents.map((id) =>
    hopPlusAgent({ game, id, ppo, network, worldModel: {}, imagined: { horizon: 8 }, omg: false }),
  ),
};
const randomAgents = game.agents.map((id) => randomAgent({ game, id }));
const atRandom = await evaluate(game, randomAgents, { episodes: 200 });
console.log(`Mean return in 20 days after ${envSteps} steps; at random ${atRandom.mean.toFixed(2)}`);
for (const [name, agents] of Object.entries(learners)) {
  let last: Metrics = {};
  const watch = {
    start: () => {},
    write: ({ metrics }: { metrics: Metrics }) => {
      last = metrics;
    },
    close: () => {},
  };
  const run = selfPlay({ game, agents, envs: 16, steps: 16, seed: 1, log: [watch] });
  await run.train({ envSteps });
  console.log(`${name}: ${(await run.evaluate({ episodes: 200 })).mean.toFixed(2)}`);
  if (name === 'HOP+') {
    const accuracy = last['boat_0/world_model/accuracy'].toFixed(3);
    const reward = last['boat_0/imagined/reward_mean']?.toFixed(3) ?? 'nothing imagined yet';
    console.log(`  accuracy of its world model ${accuracy}, imagined reward of a day: ${reward}`);
  }
  run.dispose();
}
