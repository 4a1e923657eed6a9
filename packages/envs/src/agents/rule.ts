import type { Agent, AgentId, AgentInput, Game, Generator } from '@coplay/core';
import { checkAct, checkCount } from '@coplay/core/checks';

/** Chooses the action of row `row`: a function of the observation in that row, and of the generator. */
export type Rule = (input: AgentInput, row: number, generator: Generator) => number;

/** Chooses actions [B] by a rule for each row; rows that don't play get 0. */
export function actionsBy(ruleOf: (row: number) => Rule, input: AgentInput, generator: Generator): Int32Array {
  const actions = new Int32Array(input.rows);
  for (let row = 0; row < input.rows; row++) {
    if (input.active[row] === 1) actions[row] = ruleOf(row)(input, row, generator);
  }
  return actions;
}

/** An agent without memory that follows one rule. Its state is empty. */
export function ruleAgent(
  game: Game,
  id: AgentId,
  name: string,
  rule: Rule,
  options: Agent['options'] = {},
): Agent<null> {
  return {
    id,
    name,
    options,
    initialState: (rows) => {
      checkCount(`${name} (${id}).initialState`, 'rows', rows);
      return null;
    },
    act: (input, state, generator) => {
      checkAct(`${name} (${id}).act`, game, input, generator);
      return { actions: actionsBy(() => rule, input, generator), state };
    },
  };
}
