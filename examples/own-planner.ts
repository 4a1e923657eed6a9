/**
 * Planning in a game of your own, without a network: `npx tsx --conditions=@coplay/source examples/own-planner.ts`
 *
 * Three fish in one lake, all at once, each for itself. The remaining fish double until the next season, up to 24; once
 * it's empty the game is over. Ann plans by tree search. She doesn't know whether the others are sparing or greedy: she
 * infers it from their actions.
 */
import { type Agent, assertGame, evaluate, type Game, ndarray } from '@coplay/core';
import { createSearch, goalLikelihoods, type SearchNetworks, updateBeliefs } from '@coplay/planning';

const CATCHES = [0, 2, 4, 8];
const FULL = 24;
const SEASONS = 10;

// Layout of one environment's state.
const SEASON = 0;
const FISH = 1;

const lake: Game<'int32'> = {
  name: 'lake',
  agents: ['ann', 'bob', 'cem'],
  actions: CATCHES.length,
  actionNames: CATCHES.map((fish) => `catch ${fish}`),
  observation: { season: { shape: [], dtype: 'float32' }, fish: { shape: [], dtype: 'float32' } },
  stateType: 'int32',
  stateSize: 2,
  maxSteps: SEASONS,
  infos: [],
  options: {},

  reset(state, offset) {
    state[offset + SEASON] = 0;
    state[offset + FISH] = FULL;
  },

  step(state, offset, actions, from, _generator, result, row) {
    const there = state[offset + FISH];
    const wanted = CATCHES[actions[from]] + CATCHES[actions[from + 1]] + CATCHES[actions[from + 2]];
    const share = Math.min(1, there / Math.max(1, wanted)); // where there isn't enough, each gets less in proportion
    const left = Math.max(0, there - wanted);
    state[offset + SEASON]++;
    state[offset + FISH] = Math.min(FULL, 2 * left);
    for (let i = 0; i < 3; i++) {
      result.rewards[3 * row + i] = CATCHES[actions[from + i]] * share;
      result.terminated[3 * row + i] = left === 0 || state[offset + SEASON] === SEASONS ? 1 : 0;
      result.truncated[3 * row + i] = 0;
    }
  },

  legal(state, offset, agent, mask, at) {
    mask.fill(lake.isActive(state, offset, agent) ? 1 : 0, at, at + CATCHES.length);
    mask[at] = 1; // who doesn't play any more has one action, that of doing nothing
  },
  observe(state, offset, _agent, out, row) {
    out['season'][row] = state[offset + SEASON];
    out['fish'][row] = state[offset + FISH];
  },
  isActive: (state, offset) => state[offset + FISH] > 0 && state[offset + SEASON] < SEASONS,
  elapsed: (state, offset) => state[offset + SEASON],
};
assertGame(lake);

/** The catch of each kind of co-player, nine times in ten; else any action. The kinds are the goals of the beliefs. */
const KINDS = { sparing: CATCHES.indexOf(2), greedy: CATCHES.indexOf(4) };
const G = Object.keys(KINDS).length;
const A = lake.agents.length;
const HABITS = Object.values(KINDS).map((usual) =>
  CATCHES.map((_, action) => Math.log((action === usual ? 0.9 : 0) + 0.1 / CATCHES.length)),
);

/** Plays by habit. */
function fisher(id: string, kind: keyof typeof KINDS): Agent<null> {
  return {
    id,
    name: kind,
    initialState: () => null,
    act({ rows }, state, generator) {
      const draw = () => (generator.uniform() < 0.9 ? KINDS[kind] : generator.integer(CATCHES.length));
      return { actions: Int32Array.from({ length: rows }, draw), state };
    },
  };
}

/** In the place of networks: uniform priors, an estimate of the lake's value, and habits for the others. */
const networks: SearchNetworks = {
  focal: ({ rows, states }) => ({
    logits: new Float32Array(rows * CATCHES.length),
    values: Float32Array.from({ length: rows }, (_, i) => {
      const seasonsLeft = SEASONS - states[i * lake.stateSize + SEASON];
      const fish = states[i * lake.stateSize + FISH];
      return fish === FULL ? 4 * seasonsLeft : fish / 3; // a full lake feeds three for ever; a poor one is soon empty
    }),
  }),
  coPlayers: ({ goals }) => Float32Array.from([...goals].flatMap((goal) => HABITS[goal])),
};

/** Plans in the first seat. Its beliefs [B, A, G] are its memory of an episode. */
function planner(simulations: number): Agent<Float64Array> {
  // Q is in fish, so what makes it explore must be a good few of them too. Others act by chance: their actions are
  // drawn anew in each visit.
  const options = { trees: 5, gamma: 1, exploration: 100, coPlayerSampling: 'perVisit', temperature: 0 } as const;
  const search = createSearch({ game: lake, simulations, ...options });
  const kinds = Float32Array.from(lake.agents.flatMap(() => HABITS.flat()));
  return {
    id: 'ann',
    name: 'Planner',
    initialState: (rows) => new Float64Array(rows * A * G),
    async act({ rows, observations, isFirst, previousActions }, before, generator) {
      const logProbs = Float32Array.from({ length: rows * kinds.length }, (_, i) => kinds[i % kinds.length]);
      const likelihoods = goalLikelihoods(logProbs, previousActions, G);
      const beliefs = before.map((belief, i) => (isFirst[Math.floor(i / (A * G))] ? 1 / G : belief));
      updateBeliefs(beliefs, likelihoods, new Uint8Array(beliefs.length).fill(1), G, beliefs);
      const states = Int32Array.from({ length: rows * lake.stateSize }, (_, i) => {
        return observations[i % 2 === SEASON ? 'season' : 'fish'][i >> 1];
      });
      const { actions } = await search.search(
        { rows, states, seats: new Int32Array(rows), beliefs, generator },
        networks,
      );
      // Kept with recorded experience: each co-player's kind.
      return { actions, state: beliefs, extras: { beliefs: ndarray(beliefs.slice(), [rows, A, G]) } };
    },
  };
}

const isQuick = process.env['COPLAY_QUICK'] !== undefined;
const simulations = isQuick ? 20 : 200;
const episodes = isQuick ? 10 : 200;
const others = [
  { bob: 'sparing', cem: 'sparing' },
  { bob: 'sparing', cem: 'greedy' },
  { bob: 'greedy', cem: 'greedy' },
] as const;

console.log('Catch of Ann in an episode, as a planner and by habit, by kind of the others:');
for (const { bob, cem } of others) {
  const row: Record<string, number> = {};
  for (const ann of [planner(simulations), fisher('ann', 'sparing'), fisher('ann', 'greedy')]) {
    const { returnMean } = await evaluate(lake, [ann, fisher('bob', bob), fisher('cem', cem)], { episodes, seed: 1 });
    row[ann.name] = Math.round(returnMean['ann'] * 10) / 10;
  }
  console.log(`Bob ${bob}, Cem ${cem}:`, row);
}
