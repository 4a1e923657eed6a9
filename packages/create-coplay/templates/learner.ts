/**
 * A learning algorithm of your own: Q-learning with a table (Watkins 1989) in a game of pay-offs. A state is the pair
 * of actions of the last round.
 *
 * Running this file trains two of these agents; the number is that of environment steps:
 *
 *   npx tsx template-name.ts 60000
 */
import { pathToFileURL } from 'node:url';
import type { AgentId, Game, SavedState } from '@coplay/core';
import { progress } from '@coplay/diagnostics';
import { matrixGame } from '@coplay/envs';
import { type Learner, type LearnerData, type LearningAgent, selfPlay } from '@coplay/trainers';

const GAMMA = 0.9;
const LEARNING_RATE = 0.1;
const EXPLORATION = 0.1; // probability of a random action

/** What all learners do: begin, learn from a rollout, and be saved and restored. */
class TemplateNameLearner implements Learner {
  readonly name: string;
  readonly ids: readonly AgentId[];
  readonly config = { algorithm: 'template-name', gamma: GAMMA, learningRate: LEARNING_RATE };
  updates = 0;
  /** [S, K] the value of each action in each state. */
  table: Float64Array;

  constructor(
    readonly game: Game,
    readonly id: AgentId,
  ) {
    this.name = id;
    this.ids = [id];
    this.table = new Float64Array((game.actions ** 2 + 1) * game.actions);
  }

  async initialise() {}

  /** For each step: Q(s, a) += rate (r + gamma max_b Q(s', b) - Q(s, a)). */
  async update({ experience }: LearnerData) {
    const { agents, actions, previousActions, rewards, terminated } = experience; // [E, T, A]
    let error = 0;
    for (let at = agents.indexOf(this.id); at < actions.length; at += agents.length) {
      const first = at - (at % agents.length); // of the first agent in the same step
      const place = stateOf(this.game, previousActions, first) * this.game.actions + actions[at];
      const future = terminated[at] === 1 ? 0 : GAMMA * this.best(stateOf(this.game, actions, first)).value;
      const difference = rewards[at] + future - this.table[place];
      this.table[place] += LEARNING_RATE * difference;
      error += (Math.abs(difference) * agents.length) / actions.length;
    }
    this.updates++;
    return { 'q/error': error }; // numbers for the log
  }

  /** The best action of a state and its value. */
  best(state: number) {
    const K = this.game.actions;
    const values = this.table.subarray(state * K, (state + 1) * K);
    const value = Math.max(...values);
    return { action: values.indexOf(value), value };
  }

  async state(): Promise<SavedState> {
    return { table: this.table, updates: this.updates };
  }

  async restore({ table, updates }: SavedState) {
    this.table = (table as Float64Array).slice();
    this.updates = updates as number;
  }

  dispose() {}
}

/** The state after the actions of both agents, which begin at `first`: 0 at the beginning, then one for each pair. */
function stateOf({ actions: K }: Game, actions: ArrayLike<number>, first: number): number {
  return actions[first] < 0 ? 0 : 1 + actions[first] * K + actions[first + 1];
}

/** Makes an agent that learns. */
export function createTemplateName({ game, id }: { readonly game: Game; readonly id: AgentId }): LearningAgent<null> {
  const learner = new TemplateNameLearner(game, id);
  return {
    id,
    name: 'TemplateName',
    learner,
    initialState: () => null,
    act({ rows, previousActions }, state, generator) {
      const actions = Int32Array.from({ length: rows }, (_, row) => {
        if (generator.uniform() < EXPLORATION) return generator.integer(game.actions);
        return learner.best(stateOf(game, previousActions, 2 * row)).action;
      });
      return { actions, state };
    },
  };
}

// Only where this file itself is run, not where another one imports it.
if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const game = matrixGame({ kind: 'stag-hunt', maxSteps: 10 });
  const agents = game.agents.map((id) => createTemplateName({ game, id }));
  const run = selfPlay({ game, agents, envs: 16, seed: 1, log: [progress()] });
  await run.train({ envSteps: Number(process.argv[2] ?? 60_000) });
  const { byAgent } = await run.evaluate({ episodes: 200 });
  console.table(byAgent); // both hunting stags earn 40 in ten rounds, both hunting hares 20
  run.dispose();
}
