/**
 * Population-based training (Jaderberg et al. 2017): runs with different learning rates train side by side; now and
 * then the worst ones go on from the best ones, with learning rates near theirs.
 *
 * `npx tsx --conditions=@coplay/source examples/population-based-training.ts`
 */
import { createGenerator } from '@coplay/core';
import { textTable } from '@coplay/diagnostics';
import { stagHunt } from '@coplay/envs';
import { ppoAgent, ppoPresets, type SelfPlay, selfPlay } from '@coplay/trainers';

const isQuick = process.env['COPLAY_QUICK'] === '1';
const members = isQuick ? 2 : 6;
const interval = isQuick ? 1_024 : 20_480; // environment steps between two comparisons
const comparisons = isQuick ? 2 : 5;
const replaced = Math.ceil(members / 5); // Jaderberg et al.: the worst 20 % become copies of the best 20 %

const game = stagHunt({ size: 4, agents: 2, stags: 1, hares: 2 });
const generator = createGenerator(1);

interface Member {
  readonly run: SelfPlay;
  readonly learningRate: number;
}

/** A run of its own with a learning rate; its seed says which games and first parameters it has. */
function memberOf(learningRate: number, seed: number): Member {
  const ppo = { ...ppoPresets.stagHunt, learningRate };
  return { run: selfPlay({ game, agents: game.agents.map((id) => ppoAgent({ game, id, ppo })), seed }), learningRate };
}

/** A run that goes on from the state of a better one, with 0.8 or 1.25 times its learning rate. */
async function offspringOf(better: Member, seed: number): Promise<Member> {
  const offspring = memberOf(better.learningRate * (generator.uniform() < 0.5 ? 0.8 : 1.25), seed);
  await offspring.run.restore(await better.run.state());
  return offspring;
}

// Learning rates from 1e-4 to 1e-2, by equal ratios.
let population = Array.from({ length: members }, (_, i) => memberOf(1e-4 * 100 ** (i / (members - 1)), i + 1));
for (let comparison = 1; comparison <= comparisons; comparison++) {
  const scored: { member: Member; score: number }[] = [];
  for (const member of population) {
    await member.run.train({ envSteps: comparison * interval, horizon: comparisons * interval });
    scored.push({ member, score: (await member.run.evaluate({ episodes: isQuick ? 10 : 200 })).mean });
  }
  scored.sort((a, b) => b.score - a.score);
  console.log(`After ${comparison * interval} steps:`);
  const rows = scored.map(({ member, score }) => ({
    'learning rate': member.learningRate.toPrecision(3),
    return: score,
  }));
  console.log(textTable(rows));
  if (comparison === comparisons) break;
  const kept = scored.slice(0, members - replaced).map(({ member }) => member);
  const offspring: Member[] = [];
  for (const { member: worse } of scored.slice(members - replaced)) {
    offspring.push(await offspringOf(kept[generator.integer(replaced)], comparison * members + offspring.length + 1));
    worse.run.dispose();
  }
  population = [...kept, ...offspring];
}
for (const { run } of population) run.dispose();
