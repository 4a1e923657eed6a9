/**
 * Agents of your own, playing with one that learns: `npx tsx --conditions=@coplay/source examples/own-agent.ts`
 *
 * Three seats of the stag hunt are taken by a rule of ours, one that remembers who came to hunt; the fourth learns
 * against them.
 */
import { type Agent, type AgentStep, evaluate, type Game } from '@coplay/core';
import { nearestHare, nearestStag, stagHunt } from '@coplay/envs';
import { ppoAgent, ppoPresets, selfPlay } from '@coplay/trainers';

/**
 * Hunts the stag as long as a stag was caught in at least `share` of the episodes it has seen, else hares. It uses the
 * paths of two rules, and adds a memory.
 */
function optimist(game: Game, id: string, share: number): Agent<null> {
  const onStag = nearestStag({ game, id });
  const onHare = nearestHare({ game, id });
  // It believes in one good episode before the first.
  let episodes = 1;
  let caught = 1;

  return {
    id,
    name: 'Optimist',
    initialState: () => null,
    act(input, state, generator) {
      return (caught >= share * episodes ? onStag : onHare).act(input, state, generator);
    },
    // Everyone sees every step. Its memory beyond an episode is saved and restored, so that `evaluate` leaves no trace
    // and a resumed run goes on as if it had never stopped.
    observe({ rows, infos, ended }: AgentStep) {
      const agents = game.agents.length;
      for (let row = 0; row < rows; row++) {
        const seats = infos['caught_stag'].subarray(row * agents, (row + 1) * agents);
        if (seats.includes(1)) caught++;
        if (ended[row] === 1) episodes++;
      }
    },
    save: () => ({ episodes, caught }),
    restore(saved) {
      episodes = saved['episodes'] as number;
      caught = saved['caught'] as number;
    },
  };
}

const game = stagHunt({ size: 4, agents: 4, stags: 1, hares: 4 });
const [learner, ...others] = game.agents;
const agents = [
  ppoAgent({ game, id: learner, ppo: ppoPresets.stagHunt }),
  ...others.map((id) => optimist(game, id, 0.5)),
];

const run = selfPlay({ game, agents, envs: 32, seed: 1 });
await run.train({ envSteps: process.env['COPLAY_QUICK'] ? 2_048 : 100_000 });
console.log('Mean returns with the learner in the first seat:');
console.table((await run.evaluate({ episodes: 200 })).returnMean);
run.dispose();

console.log('And with NearestStag there:');
const rules = [nearestStag({ game, id: learner }), ...others.map((id) => optimist(game, id, 0.5))];
console.table((await evaluate(game, rules, { episodes: 200 })).returnMean);
