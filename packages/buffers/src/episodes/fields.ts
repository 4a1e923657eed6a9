import { type ActionSpaces, type Experience, fail, type NamedArrays, type TypedArray } from '@coplay/core';
import { actionLayout, dtypeOf, saveSpace, sizeOf } from '@coplay/core/arrays';

/** An array of an {@link Experience} that has something for each step of each environment. */
export interface StepField {
  /** As in files: `rewards`, `observations/grid`, `extras/logProbs`. */
  readonly name: string;
  readonly data: TypedArray;
  /**
   * `agent`: [E, T, A, ...shape], each agent has its own; `everyone`: the same, of interest to each; `step`: [E, T,
   * ...shape]
   */
  readonly of: 'agent' | 'everyone' | 'step';
  /** The part of one agent (or step). */
  readonly shape: readonly number[];
}

/** All arrays with an entry for each step, in a fixed order. */
export function stepFields(experience: Experience<ActionSpaces>): StepField[] {
  const action = actionShape(experience);
  const { observation, observations, extras, actionCount, states } = experience;
  const agent = (name: string, data: TypedArray, shape: readonly number[] = []): StepField => {
    return { name, data, of: 'agent', shape };
  };
  return [
    ...Object.keys(observation).map((key) => agent(`observations/${key}`, observations[key], observation[key].shape)),
    agent('masks', experience.masks, [actionCount]),
    agent('actions', experience.actions, action),
    { name: 'previousActions', data: experience.previousActions, of: 'everyone', shape: action },
    agent('rewards', experience.rewards),
    agent('active', experience.active),
    agent('terminated', experience.terminated),
    agent('truncated', experience.truncated),
    { name: 'isFirst', data: experience.isFirst, of: 'step', shape: [] },
    { name: 'ended', data: experience.ended, of: 'step', shape: [] },
    ...(states ? [{ name: 'states', data: states.data, of: 'step' as const, shape: states.shape.slice(2) }] : []),
    ...Object.entries(extras).map(([key, { data, shape }]) => agent(`extras/${key}`, data, shape.slice(3))),
  ];
}

/** [], and [W] where actions aren't one number. */
export function actionShape({ agents, actionSpaces }: Experience<ActionSpaces>): readonly number[] {
  return actionSpaces === undefined ? [] : [actionLayout({ agents, actions: actionSpaces }).width];
}

/** The number of a field's values for one step, of all agents together. */
export function stepWidth(field: StepField, agents: number): number {
  return (field.of === 'step' ? 1 : agents) * sizeOf(field.shape);
}

/** Refuses experience of other agents, observations, actions or extras than `like`, by field. */
export function checkSameKind(where: string, like: Experience<ActionSpaces>, other: Experience<ActionSpaces>): void {
  if (like === other) return;
  const [expected, got] = [like, other].map(describeFields);
  for (const name of new Set([...Object.keys(expected), ...Object.keys(got)])) {
    if (expected[name] === got[name]) continue;
    const expectation = `${name}: ${expected[name] ?? 'none'}`;
    fail(where, expectation, got[name] ?? 'none', 'Experience can be joined where all fields are the same.');
  }
}

function describeFields(experience: Experience<ActionSpaces>): Record<string, string> {
  const { agents, actionSpaces } = experience;
  const spaces = actionSpaces && actionLayout({ agents, actions: actionSpaces }).spaces.map(saveSpace);
  const fields = stepFields(experience).map(({ name, data, shape }) => [name, `${dtypeOf(data)} [${shape}]`]);
  return {
    agents: agents.join(', '),
    ...(spaces && { actionSpaces: JSON.stringify(spaces) }),
    ...Object.fromEntries(fields),
  };
}

/** Zeroed extras of the same names and dtypes for other numbers of environments and steps. */
export function allocateExtras(extras: NamedArrays, envs: number, steps: number): NamedArrays {
  return Object.fromEntries(
    Object.entries(extras).map(([name, { data, shape }]) => {
      const full = [envs, steps, ...shape.slice(2)];
      const zeroed = new (data.constructor as new (length: number) => TypedArray)(sizeOf(full));
      return [name, { data: zeroed, shape: full }];
    }),
  );
}
