/**
 * HOP on the stag hunt: two agents that infer the other's goal, plan by tree search against goal-conditioned models of
 * it, and learn from the search results. Then the same agents with a larger search, and their beliefs.
 *
 * Run it: `npx tsx --conditions=@coplay/source examples/hop.ts`
 */
import { evaluate } from '@coplay/core';
import { progress } from '@coplay/diagnostics';
import { stagHunt } from '@coplay/envs';
import { hopAgent, planner, selfPlay } from '@coplay/trainers';

const isQuick = Boolean(process.env['COPLAY_QUICK']);
const game = stagHunt({ size: 4, agents: 2, stags: 1, hares: 2 });

const agents = game.agents.map((id) =>
  hopAgent({
    game,
    id,
    search: { trees: 1, simulations: 20, exploration: 20, rationality: 12 }, // small, for training
    hop: { minibatches: 32, learningRate: 1e-3 },
    interOM: true, // false: goals shown in earlier episodes are forgotten
    intraOM: true, // false: beliefs don't follow the actions in this one
    // goals: 'none', // direct-OM: models that know no goals
  }),
);
const run = selfPlay({ game, agents, envs: 64, steps: 8, seed: 1, log: [progress()] });
await run.train({ envSteps: isQuick ? 1_024 : 20_000 });

const players = agents.map((agent) => planner(agent, { trees: 5, simulations: isQuick ? 10 : 100, exploration: 10 }));
console.table((await evaluate(game, players, { episodes: isQuick ? 16 : 200 })).byAgent);
const [stag, hare] = agents[0].beliefs!.prior('agent_1');
console.log(`agent_0 expects agent_1 to be after: stag ${stag.toFixed(2)}, hare ${hare.toFixed(2)}`);
run.dispose();
