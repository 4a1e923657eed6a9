/**
 * PPO on the 8x8 stag hunt with three kinds of exploration:
 * `npx tsx --conditions=@coplay/source examples/exploration.ts`
 *
 * Agents alone learn to hunt hares. With shared goals, or with partners by chance, they find out what a stag is worth.
 */
import { progress, textTable } from '@coplay/diagnostics';
import { stagHunt } from '@coplay/envs';
import {
  anneal,
  curriculum,
  ppoPresets,
  type SelfPlayOptions,
  selfPlay,
  sharedGoals,
  sharedPpoAgents,
} from '@coplay/trainers';

const options = { size: 8, agents: 4, stags: 1, hares: 4 };
const game = stagHunt(options);
const isQuick = process.env['COPLAY_QUICK'] !== undefined;

const kinds: Record<string, Pick<SelfPlayOptions, 'exploration' | 'curriculum'>> = {
  alone: {},
  'shared goals': { exploration: sharedGoals({ share: { from: 1, to: 0, by: 0.3 } }) },
  'partners by chance': {
    curriculum: curriculum((done) =>
      stagHunt({ ...options, partnerChance: anneal({ from: 1, to: 0, by: 0.35 }, done) }),
    ),
  },
};

const lines = [];
for (const [name, kind] of Object.entries(kinds)) {
  const agents = sharedPpoAgents({
    game,
    inputs: { centred: true },
    ppo: { ...ppoPresets.stagHunt, gamma: 0.97, minibatchSize: 512, entropyWeight: { from: 0.1, to: 0, by: 0.6 } },
  });
  const run = selfPlay({ game, agents, envs: 64, seed: 1, log: [progress()], ...kind });
  await run.train({ envSteps: isQuick ? 2_048 : 300_000 });
  const { mean, infos } = await run.evaluate({ episodes: isQuick ? 20 : 1_000 });
  const caught = Object.values(infos['caught_stag']).reduce((sum, each) => sum + each, 0);
  lines.push({ exploration: name, return: mean, 'hunters at the stag': caught });
  run.dispose();
}
console.log(textTable(lines));
