/**
 * LOLA in the iterated prisoner's dilemma: two players that reckon with each other's learning come to cooperate, and to
 * punish who doesn't, where naive learners end in defection. Exact gradients, many first policies; then one pair plays
 * in the environment.
 *
 * Run it: `npx tsx --conditions=@coplay/source examples/lola.ts`
 */
import { evaluate } from '@coplay/core';
import { textTable } from '@coplay/diagnostics';
import { bootstrap, mean } from '@coplay/diagnostics/statistics';
import { matrixGame } from '@coplay/envs';
import { lola, memoryOneAgent } from '@coplay/trainers';

const isQuick = Boolean(process.env['COPLAY_QUICK']);
const game = matrixGame({
  payoffs: [
    [-1, -3], // cooperate
    [0, -2], //  defect
  ],
  actionNames: ['cooperate', 'defect'],
  maxSteps: 50,
});

const train = (learner: 'lola' | 'naive', seed: number) => {
  const pair = lola({ game, learners: [learner, learner], discount: 0.96, stepSize: 1, lookAhead: 1, seed });
  pair.train(isQuick ? 50 : 500);
  return pair;
};
const chance = (logit: number) => 1 / (1 + Math.exp(-logit));

// The result depends on the initial parameters: one seed shows little.
const seeds = Array.from({ length: isQuick ? 3 : 20 }, (_, i) => i + 1);
const learned = (['lola', 'naive'] as const).map((learner) => ({
  learner,
  pairs: seeds.map((seed) => train(learner, seed)),
}));
const payoffRows = learned.map(({ learner, pairs }) => {
  const payoffs = pairs.map((pair) => pair.meanPayoffs()[0]);
  return {
    learner,
    'payoff a round': bootstrap(payoffs),
    least: Math.min(...payoffs),
    'seeds below -1.5': payoffs.filter((payoff) => payoff < -1.5).length,
  };
});
console.log(textTable(payoffRows));

const MEMORIES = ['both cooperated', 'it was cheated', 'it cheated', 'both defected', 'start'];
const chanceRows = MEMORIES.map((before, i) => ({
  'chance to cooperate when': before,
  ...Object.fromEntries(
    learned.map(({ learner, pairs }) => {
      return [learner, mean(pairs.flatMap(({ parameters }) => parameters.map((own) => chance(own[i]))))];
    }),
  ),
}));
console.log(textTable(chanceRows));

const [pair] = learned[0].pairs;
const agents = game.agents.map((id, i) => memoryOneAgent({ game, id, parameters: pair.parameters[i] }));
const { mean: played } = await evaluate(game, agents, { episodes: 100 });
console.log(`played: ${(played / 50).toFixed(3)} a round, exact and discounted: ${pair.meanPayoffs()[0].toFixed(3)}`);
