import { bootstrap, mean } from '@coplay/diagnostics/statistics';
import { matrixGame } from '@coplay/envs';
import { lola } from '@coplay/trainers';

/** Games of Foerster et al. 2018, in which action 0 is to cooperate, or heads; and the stag hunt. */
const GAMES = {
  "prisoner's dilemma": {
    discount: 0.96,
    game: matrixGame({
      payoffs: [
        [-1, -3],
        [0, -2],
      ],
    }),
  },
  'matching pennies': {
    discount: 0.9,
    game: matrixGame({
      payoffs: [
        [
          [1, -1],
          [-1, 1],
        ],
        [
          [-1, 1],
          [1, -1],
        ],
      ],
    }),
  },
  'stag hunt': { discount: 0.96, game: matrixGame({ kind: 'stag-hunt' }) },
};

const PAIRS = [
  ['lola', 'lola'],
  ['lola', 'naive'],
  ['naive', 'naive'],
] as const;

/** What two learners came to in one game. */
export interface MatrixResult {
  readonly game: string;
  readonly learners: string;
  /** [seeds] each player's mean payoff per round. */
  readonly payoffs: readonly (readonly number[])[];
  /** [seeds] how far the most certain of all choices is from 1/2, 0 to 1/2. */
  readonly certainty: readonly number[];
}

/** LOLA and naive learners in iterated matrix games, with exact gradients. */
export function matrixGames(seeds: number, steps: number): MatrixResult[] {
  return Object.entries(GAMES).flatMap(([name, { game, discount }]) =>
    PAIRS.map((learners) => {
      const pairs = Array.from({ length: seeds }, (_, i) => {
        const pair = lola({ game, discount, learners, seed: i + 1 });
        pair.train(steps);
        return pair;
      });
      return {
        game: name,
        learners: learners.join(', '),
        payoffs: pairs.map((pair) => pair.meanPayoffs()),
        certainty: pairs.map(({ parameters }) => Math.max(...parameters.flatMap((own) => [...own].map(offEven)))),
      };
    }),
  );
}

/** How far the chance of a logit is from 1/2. */
function offEven(logit: number): number {
  return Math.abs(1 / (1 + Math.exp(-logit)) - 0.5);
}

/** Rows for a table. */
export function matrixRows(results: readonly MatrixResult[]) {
  return results.map(({ game, learners, payoffs, certainty }) => {
    const first = payoffs.map(([payoff]) => payoff);
    return {
      game,
      learners,
      seeds: payoffs.length,
      'first: payoff a round': bootstrap(first),
      'second: payoff a round': bootstrap(payoffs.map(([, payoff]) => payoff)),
      least: Math.min(...first),
      most: Math.max(...first),
      'most certain choice, off even': mean(certainty),
    };
  });
}
