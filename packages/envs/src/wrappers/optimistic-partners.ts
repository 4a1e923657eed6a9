import {
  type ActionSpaces,
  type ActionsOf,
  type ArrayOf,
  checkGame,
  checkOptions,
  type DType,
  type Game,
  type StepArrays,
} from '@coplay/core';
import { functions } from '@coplay/core/checks';
import { z } from 'zod';
import { wrap, wrapOptions } from './wrap';

/** Options of {@link optimisticPartners}: the outcome that takes several agents, and how often a lone one gets it. */
export interface OptimisticPartnersOptions<State extends DType = DType, Spaces extends ActionSpaces = number> {
  /** Probability, 0 to 1, with which partners join a lone agent. */
  readonly chance: number;
  /**
   * Whether an active agent does its part in this step, and only its partners are missing. `actions[actionsOffset + i]`
   * is the action of agent i (in other spaces its W values begin at `actionsOffset + i W`), and the state is the one
   * before the step.
   */
  lacksPartners(
    state: ArrayOf<State>,
    offset: number,
    actions: ActionsOf<Spaces>,
    actionsOffset: number,
    agent: number,
  ): boolean;
  /**
   * Changes what the game's own step has written as if partners had joined the agent: the state after the step, and row
   * `row` of `result`. The partners that joined are nobody's: no other agent moves or is paid.
   */
  join(state: ArrayOf<State>, offset: number, agent: number, result: StepArrays, row: number): void;
}

const schema = z.strictObject({
  chance: z.number().min(0).max(1),
  lacksPartners: functions(),
  join: functions(),
});

/**
 * A game in which partners join by chance: an agent that does its part of an outcome that takes several agents gets it
 * with probability `chance`, although its partners are missing. So a learner finds out what the outcome is worth before
 * agents can coordinate. It is an easier game, to train on (`curriculum` of `@coplay/trainers` lowers the chance to 0)
 * or to imagine with; evaluate on the game itself. `stagHunt` has it as its option `partnerChance`.
 *
 * The game keeps its observations, goals and states. It has no grid parts, since their payments are those of the rules.
 *
 * @throws CoplayError for unknown options, or a chance outside of [0, 1]
 */
export function optimisticPartners<State extends DType, Spaces extends ActionSpaces>(
  game: Game<State, Spaces>,
  options: OptimisticPartnersOptions<State, Spaces>,
): Game<State, Spaces> {
  checkGame('optimisticPartners', game, 'any');
  const { chance } = checkOptions('optimisticPartners', schema, options);
  const A = game.agents.length;
  const isJoined = new Uint8Array(A);
  return wrap(game, {
    options: wrapOptions(game, 'optimisticPartners', chance),
    ...(game.observesState && { observesState: true }),
    step(state, offset, actions, actionsOffset, generator, result, row) {
      for (let agent = 0; agent < A; agent++) {
        const isLone =
          chance > 0 &&
          game.isActive(state, offset, agent) &&
          options.lacksPartners(state, offset, actions, actionsOffset, agent);
        isJoined[agent] = isLone && generator.uniform() < chance ? 1 : 0;
      }
      game.step(state, offset, actions, actionsOffset, generator, result, row);
      for (let agent = 0; agent < A; agent++) {
        if (isJoined[agent] === 1) options.join(state, offset, agent, result, row);
      }
    },
  });
}
