import {
  type Agent,
  type AgentId,
  type ArrayOf,
  type DType,
  type Game,
  type Generator,
  type ImaginationStarts,
  type NamedArrays,
  ndarray,
  type Saved,
} from '@coplay/core';
import { drawIndex } from '@coplay/core/rows';
import { sampleCategorical } from '@coplay/tensor/distributions';
import type { MoaLearner } from '../moa';
import { GOAL_PRIORS, SUBGOALS } from './options';
import type { HopPlusPlayers, HopPlusSetup } from './setup';

/** A player in imagination, and its initial state. */
export interface ImaginedPlayer {
  readonly agent: Agent;
  readonly state: Saved;
}

/**
 * How an imagined co-player's goal is drawn: the probability of a uniform draw over open goals; undefined where the
 * model chooses it.
 */
export type GoalChance = number | undefined;

/** The part of imagined starts that goals are drawn by. */
export type GoalStarts = Pick<ImaginationStarts, 'isFirst'> & {
  /** [B, S] states of the game, which say which goals can still be reached; without them all can */
  readonly real: ArrayOf<DType> | undefined;
};

/** A co-player as the model of it: its goal is drawn once for each imagined episode. */
export function modelledCoPlayer(
  moa: MoaLearner,
  coPlayer: AgentId,
  game: Game,
  starts: GoalStarts,
  choice: GoalChance,
  generator: Generator,
): ImaginedPlayer {
  const goals = drawGoals(moa, coPlayer, game, starts, choice, generator);
  const agent = moa.agent(coPlayer, (row) => goals[row]); // called at episode starts
  const { memory } = agent.initialState(starts.isFirst.length);
  return { agent, state: { goals, memory } };
}

/** [B] a goal that can still be reached, or -1 for "unknown" */
function drawGoals(
  moa: MoaLearner,
  coPlayer: AgentId,
  game: Game,
  starts: GoalStarts,
  choice: GoalChance,
  generator: Generator,
): Int32Array {
  const { goals } = game;
  const drawn = new Int32Array(starts.isFirst.length).fill(-1);
  if (!goals || choice === undefined || moa.goals === 0) return drawn;
  const shown = moa.prior(coPlayer);
  const uniform = shown.map(() => 1);
  const { real } = starts;
  const isOpen = (goal: number, row: number) => !real || goals.isOpen?.(goal, real, row * game.stateSize) !== false;
  for (let row = 0; row < drawn.length; row++) {
    const prior = generator.uniform() < choice ? uniform : shown;
    const open = prior.map((p, goal) => (isOpen(goal, row) ? p : 0));
    drawn[row] = drawIndex(open, generator);
    // Nothing was drawn where no goal is open; the rows after it must not depend on that.
    if (drawn[row] === -1) generator.uniform();
  }
  return drawn;
}

/**
 * A co-player as a copy of the agent: the same policy in another seat, without any inferred subgoals, for which all
 * goals of its own co-players are equally likely.
 */
export function copiedCoPlayer({ ppo, setup }: HopPlusPlayers, coPlayer: AgentId, subgoalSize: number): ImaginedPlayer {
  const seat = ppo.setup.game.agents.indexOf(coPlayer);
  const K = ppo.setup.net.actions;
  const agent: Agent<null> = {
    id: coPlayer,
    name: 'copy',
    initialState: () => null,
    async act(input, state, generator) {
      const none = nothingKnown(setup, subgoalSize, input.rows);
      const { policy: logProbs } = await ppo.policy.act(input, seat, new Float32Array(0), none);
      return { actions: sampleCategorical(logProbs, input.rows, K, generator), state };
    },
  };
  return { agent, state: null };
}

/** The extras that the policy reads where nothing is known of others: no subgoals, and equally likely goals. */
export function nothingKnown({ game, priorSize }: HopPlusSetup, subgoalSize: number, rows: number): NamedArrays {
  const uniform = 1 / (game.goals?.names.length ?? 1);
  return {
    ...(subgoalSize > 0 && { [SUBGOALS]: ndarray(new Float32Array(rows * subgoalSize), [rows, subgoalSize]) }),
    ...(priorSize > 0 && {
      [GOAL_PRIORS]: ndarray(new Float32Array(rows * priorSize).fill(uniform), [rows, priorSize]),
    }),
  };
}
