import { type ActionArray, type ActionLayout, type ActionSpaces, actionFault, widthOf } from './action-spaces';
import { allocate } from './arrays';
import { fail, show } from './errors';
import type { AgentId, AnyGame } from './game';

const WHERE = 'parallelEnv.step';

/** An agent's action: a whole number for discrete actions; in other spaces also the list of its values. */
export type ParallelAction<Spaces extends ActionSpaces> = Spaces extends number ? number : number | ArrayLike<number>;

type Given = Readonly<Record<AgentId, ParallelAction<ActionSpaces>>>;

/**
 * The actions of a record as [A, W], 0 for agents that have left.
 *
 * @param alive  [A] true where an agent plays
 * @throws CoplayError unless there is one action of its space for each active agent, and no other entry
 */
export function readActions(
  game: AnyGame,
  layout: ActionLayout,
  alive: readonly boolean[],
  actions: Given,
): ActionArray {
  const ids = game.agents.filter((_, i) => alive[i]);
  if (actions === null || typeof actions !== 'object') {
    const remedy = `Give an action for each of: ${ids.join(', ') || 'nobody, {}'}.`;
    fail(WHERE, 'a record of actions by agent id', show(actions), remedy);
  }
  const stranger = Object.keys(actions).find((id) => !ids.includes(id));
  if (stranger !== undefined) refuseId(game, ids, stranger);
  const read = allocate(layout.dtype, game.agents.length * layout.width);
  game.agents.forEach((_, seat) => {
    if (alive[seat]) read.set(readAction(game, layout, seat, actions), seat * layout.width);
  });
  return read;
}

function refuseId(game: AnyGame, ids: readonly AgentId[], id: string): never {
  if (ids.length === 0) {
    fail(WHERE, 'no actions after the end of the episode', `one for ${show(id)}`, 'Call reset() to begin another.');
  }
  const got = game.agents.includes(id) ? `one for ${show(id)}, which has left` : `one for the unknown id ${show(id)}`;
  fail(WHERE, `actions for ${ids.join(', ')} only`, got, 'Give one action for each id in env.agents.');
}

/** The values of one agent's action. */
function readAction(game: AnyGame, { spaces, dtype }: ActionLayout, seat: number, actions: Given): readonly number[] {
  const id = game.agents[seat];
  const space = spaces[seat];
  const action: unknown = Object.hasOwn(actions, id) ? actions[id] : undefined;
  const isList = Array.isArray(action) || ArrayBuffer.isView(action);
  const given: readonly unknown[] = isList ? Array.from(action as ArrayLike<unknown>) : [action];
  const width = widthOf(space);
  const isWhole = given.length === width && given.every((value) => typeof value === 'number');
  // Float32 values, as the game will read them.
  const values = isWhole ? Array.from(given as number[], dtype === 'float32' ? Math.fround : Number) : [];
  const fault = isWhole ? actionFault(space, values, 0) : undefined;
  if (isWhole && !fault && !(isList && typeof space === 'number')) return values;
  const got = action === undefined ? 'no action' : show(action);
  if (typeof space === 'number') {
    const names = game.actionNames.map((name, i) => `${i} ${name}`).join(', ');
    const remedy = typeof game.actions === 'number' ? `The actions are: ${names}.` : 'Give the number of the action.';
    return fail(WHERE, `a whole number from 0 to ${space - 1} for ${id}`, got, remedy);
  }
  if (fault) return fail(WHERE, `${fault.expected} for ${id}`, fault.got, fault.remedy);
  return fail(WHERE, `${width} ${width === 1 ? 'number' : 'numbers'} for ${id}`, got, 'Give the values of its action.');
}
