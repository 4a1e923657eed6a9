/**
 * HOP+ on the stag hunt: four agents, each with a model of the world, models of the others, and a policy that sees the
 * others' inferred subgoals. Everything that it adds to PPO is an option: switch modules off below and compare.
 *
 * Run it: `npx tsx --conditions=@coplay/source examples/hop-plus.ts`
 */
import { progress } from '@coplay/diagnostics';
import { stagHunt } from '@coplay/envs';
import { hopPlusAgent, ppoPresets, selfPlay } from '@coplay/trainers';

const isQuick = Boolean(process.env['COPLAY_QUICK']);
const game = stagHunt({ size: 4, agents: 4, stags: 1, hares: 4 });

const agents = game.agents.map((id) =>
  hopPlusAgent({
    game,
    id,
    ppo: ppoPresets.stagHunt,
    worldModel: {}, // false, 'rules', or options of createWorldModel
    imagined: { horizon: 8 }, // false: models are trained, but nothing is imagined
    moa: {}, // false: imagined co-players act with the own policy
    omg: { goalDim: 16 }, // false: the policy sees no subgoals
  }),
);
const run = selfPlay({ game, agents, envs: 32, steps: 32, seed: 1, log: [progress()] });
await run.train({ envSteps: isQuick ? 4_096 : 150_000 });
console.table((await run.evaluate({ episodes: isQuick ? 64 : 1_000 })).byAgent);
run.dispose();
