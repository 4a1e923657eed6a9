import {
  type Agent,
  type AgentInput,
  checkOptions,
  fail,
  type Generator,
  type Saved,
  type SavedState,
} from '@coplay/core';
import {
  checkAct,
  checkAgent,
  checkAgentStep,
  checkArgument,
  checkCount,
  type PartToRestore,
  restoreParts,
} from '@coplay/core/checks';
import { z } from 'zod';
import { memoryPerRow } from './memory';
import { type RuleAgentOptions, recordOf, seatOf } from './options';

/** Options of {@link switcher}. */
export interface SwitcherOptions extends RuleAgentOptions {
  /** Who plays the first `episodes` episodes of a row. */
  readonly first: Agent;
  /** Who plays from then on. Both have the switcher's id. */
  readonly second: Agent;
  /** k, 0 or more */
  readonly episodes: number;
}

/** The states of both agents. */
export type SwitcherState = { readonly first: Saved; readonly second: Saved };

const stateSchema = z.looseObject({ first: z.unknown(), second: z.unknown() });
const schema = z.object({ episodes: z.int().min(0) }).strict();

/**
 * Switcher(first, second, k): plays as `first` for k episodes, then as `second`; counted for each row, beyond episodes.
 * Both observe every step, so that an agent with a memory is up to date when its turn comes. Extras of the two
 * (log-probabilities and such) aren't passed on.
 */
export function switcher(options: SwitcherOptions): Agent<SwitcherState> {
  const { game, id, first, second, ...others } = recordOf('switcher', options);
  seatOf('switcher', game, id);
  const { episodes: k } = checkOptions('switcher', schema, others);
  for (const agent of [first, second]) {
    checkAgent('switcher', agent);
    if (agent.id !== id)
      fail('switcher', `agents with the id ${id}`, agent.id, 'Make first and second with the same id.');
  }
  // [B] episodes that have ended
  const memory = memoryPerRow('switcher', { episodes: 0 });

  const name = `Switcher(${first.name}, ${second.name}, ${k})`;
  return {
    id,
    name,
    initialState(rows) {
      checkCount(`${name} (${id}).initialState`, 'rows', rows);
      memory.rows(rows);
      return { first: first.initialState(rows), second: second.initialState(rows) };
    },
    async act(input: AgentInput, state: SwitcherState, generator: Generator) {
      checkAct(`${name} (${id}).act`, game, input, generator);
      checkArgument(`${name} (${id}).act`, 'state', stateSchema, state);
      const { episodes } = memory.rows(input.rows);
      // One after the other, so that their draws come in a fixed order.
      const one = await first.act(input, state.first, generator);
      const two = await second.act(input, state.second, generator);
      const actions = one.actions.map((action, row) => (episodes[row] < k ? action : two.actions[row]));
      return { actions, state: { first: one.state, second: two.state } };
    },
    observe(step) {
      checkAgentStep(`${name} (${id}).observe`, game, step);
      const { episodes } = memory.rows(step.rows);
      for (let row = 0; row < step.rows; row++) episodes[row] += step.ended[row];
      first.observe?.(step);
      second.observe?.(step);
    },
    save: (): SavedState => ({ ...memory.save(), first: first.save?.() ?? null, second: second.save?.() ?? null }),
    restore(saved) {
      checkArgument('switcher.restore', 'saved', z.looseObject({}), saved);
      const own = { path: 'saved', part: { state: memory.save, restore: memory.restore }, saved };
      restoreParts('switcher.restore', [own, ...partOf('first', first, saved), ...partOf('second', second, saved)]);
    },
  };
}

/** The memory of one of the two agents, if it has one. */
function partOf(name: string, agent: Agent, saved: SavedState): PartToRestore[] {
  const { save, restore } = agent;
  if (!save || !restore) return [];
  checkArgument('switcher.restore', `saved.${name}`, z.looseObject({}), saved[name]);
  const part = { state: () => save.call(agent), restore: (state: SavedState) => restore.call(agent, state) };
  return [{ path: `saved.${name}`, part, saved: saved[name] as SavedState }];
}
