/**
 * One learner whose co-players are its own past: `npx tsx --conditions=@coplay/source examples/past-selves.ts`
 *
 * It then plays with partners that it never met, which is what self-play is for.
 */
import { type Agent, evaluate } from '@coplay/core';
import { progress, textTable } from '@coplay/diagnostics';
import { nearestHare, nearestStag, randomAgent, stagHunt } from '@coplay/envs';
import { frozen, pastSelves, ppoAgent, ppoPresets, selfPlay } from '@coplay/trainers';

const game = stagHunt({ size: 4, agents: 4, stags: 1, hares: 4 });
const [first, ...others] = game.agents;
const learner = ppoAgent({ game, id: first, ppo: ppoPresets.stagHunt });

const run = selfPlay({
  game,
  agents: [learner, ...others.map((id) => pastSelves({ id, of: learner, size: 5, every: 10, latest: 0.5 }))],
  envs: 32,
  seed: 1,
  log: [progress()],
});
await run.train({ envSteps: process.env['COPLAY_QUICK'] ? 2_048 : 100_000 });

/** The return of the learner, always taking its most probable action, with three partners of a kind. */
async function withPartners(name: string, partner: (id: string) => Agent) {
  const { returnMean, mean } = await evaluate(game, [frozen(learner, { greedy: true }), ...others.map(partner)], {
    episodes: 300,
  });
  return { partners: name, learner: returnMean[first], everyone: mean };
}

console.log(
  textTable([
    await withPartners('NearestStag', (id) => nearestStag({ game, id })),
    await withPartners('NearestHare', (id) => nearestHare({ game, id })),
    await withPartners('Random', (id) => randomAgent({ game, id })),
  ]),
);
run.dispose();
