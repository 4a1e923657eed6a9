import { type Scene, show } from '@coplay/core';
import { maskSizeOf, readSpace, sizeOf, widthOf } from '@coplay/core/arrays';
import { actionFault } from '@coplay/core/checks';
import type {
  RecordedAction,
  RecordedFrame,
  RecordedInsight,
  RecordedObservation,
  RecordedStep,
  Recording,
} from './recording';

/** The faults, one after another: `steps.3.actions.1: 99, of 7 actions`. */
type Problems = Generator<string, void>;

/**
 * The first part of a recording that doesn't fit the others, in words; undefined where all fit.
 *
 * @param recording  with parts of the right kinds
 */
export function misfit(recording: Recording): string | undefined {
  return problems(recording).next().value ?? undefined;
}

function* problems(recording: Recording): Problems {
  const { agents, players, frames, steps } = recording;
  if (frames.length !== steps.length + 1) yield `${frames.length} frames and ${steps.length} steps`;
  if (players.length !== agents.length) yield `${players.length} players and ${agents.length} agents`;
  if (new Set(agents).size !== agents.length) yield `agents: ${show(agents)}, of which two are the same`;
  yield* spacesProblems(recording);
  for (const [t, frame] of frames.entries()) yield* frameProblems(recording, frame, `frames.${t}`);
  for (const [t, step] of steps.entries()) yield* stepProblems(recording, step, `steps.${t}`);
}

function* spacesProblems({ version, spaces, agents }: Recording): Problems {
  if ((version === 2) !== (spaces !== undefined)) yield `version ${version} ${spaces ? 'with' : 'without'} spaces`;
  yield* lengthProblems({ spaces }, agents.length, 'agents', 'recording');
  for (const [seat, space] of (spaces ?? []).entries()) {
    if (typeof space === 'number' || space.kind !== 'box') continue;
    yield* lengthProblems({ low: space.low, high: space.high }, sizeOf(space.shape), 'values', `spaces.${seat}`);
  }
}

function* stepProblems(recording: Recording, step: RecordedStep, at: string): Problems {
  const { agents } = recording;
  const { actions, rewards, terminated, truncated, insights, predicted } = step;
  yield* lengthProblems({ actions, rewards, terminated, truncated, insights }, agents.length, 'agents', at);
  for (const [seat, action] of actions.entries()) {
    if (action !== null) yield* actionProblems(recording, seat, action, `${at}.actions.${seat}`);
  }
  for (const [seat, insight] of (insights ?? []).entries()) {
    if (insight) yield* insightProblems(recording, seat, insight, `${at}.insights.${seat}`);
  }
  if (!predicted) return;
  const foretold = { rewards: predicted.rewards, terminated: predicted.terminated };
  yield* lengthProblems(foretold, agents.length, 'agents', `${at}.predicted`);
  yield* frameProblems(recording, predicted, `${at}.predicted`);
}

function* actionProblems(
  { actionNames, spaces }: Recording,
  seat: number,
  action: RecordedAction,
  at: string,
): Problems {
  if (!spaces) {
    if (typeof action !== 'number') yield `${at}: ${show(action)}, in version 1`;
    else if (actionNames[action] === undefined) yield `${at}: ${action}, of ${actionNames.length} actions`;
    return;
  }
  const space = readSpace(spaces[seat]);
  if ((typeof action === 'number') !== (typeof space === 'number')) {
    yield `${at}: ${show(action)}, in place of ${typeof space === 'number' ? 'a number' : 'a list'}`;
    return;
  }
  const values = typeof action === 'number' ? [action] : action;
  yield* lengthProblems({ values }, widthOf(space), 'values', at);
  const fault = actionFault(space, values, 0);
  if (fault) yield `${at}: ${fault.got} in place of ${fault.expected}`;
}

function* insightProblems(recording: Recording, seat: number, insight: RecordedInsight, at: string): Problems {
  const { agents, actionNames, spaces, goals } = recording;
  const own = agents[seat];
  const { policy, visits, beliefs = {} } = insight;
  yield* lengthProblems(
    { policy, visits },
    spaces ? maskSizeOf(readSpace(spaces[seat])) : actionNames.length,
    'actions',
    at,
  );
  for (const [other, belief] of Object.entries(beliefs)) {
    if (other === own || !agents.includes(other)) yield `${at}.beliefs: of ${show(other)}, who is no co-player`;
    if (!goals) yield `${at}.beliefs: but no goals`;
    // A schema of records leaves out the name __proto__, which an agent may have.
    if (!Array.isArray(belief) || !belief.every(Number.isFinite)) yield `${at}.beliefs.${other}: ${show(belief)}`;
    yield* lengthProblems({ [other]: belief }, goals?.length ?? 0, 'goals', `${at}.beliefs`);
  }
}

function* frameProblems(recording: Recording, frame: RecordedFrame, at: string): Problems {
  const [first] = recording.frames;
  const { state, scene, observations } = frame;
  yield* lengthProblems({ state }, first.state.length, 'numbers', at);
  if (scene) yield* sceneProblems(scene, first.scene, `${at}.scene`);
  if (!observations) return;
  yield* lengthProblems({ observations }, recording.agents.length, 'agents', at);
  for (const [seat, seen] of observations.entries()) {
    if (seen) yield* observationProblems(recording, seen, `${at}.observations.${seat}`);
  }
}

function* sceneProblems({ rows, columns, items }: Scene, first: Scene | undefined, at: string): Problems {
  if (first && (rows !== first.rows || columns !== first.columns)) {
    yield `${at}: ${rows} x ${columns}, where others are ${first.rows} x ${first.columns}`;
  }
  const outside = items.find(({ row, column }) => row < 0 || row >= rows || column < 0 || column >= columns);
  if (outside) yield `${at}: ${show(outside.kind)} at ${outside.row}, ${outside.column}, of ${rows} x ${columns}`;
}

function* observationProblems({ observation }: Recording, seen: RecordedObservation, at: string): Problems {
  if (!observation) {
    yield `${at}: but no observation that says what it is`;
    return;
  }
  const unknown = Object.keys(seen).find((name) => !Object.hasOwn(observation, name));
  if (unknown !== undefined) yield `${at}: ${show(unknown)}, which is none of ${show(Object.keys(observation))}`;
  for (const [name, { shape }] of Object.entries(observation)) {
    const numbers = seen[name] ?? [];
    if (numbers.length !== sizeOf(shape)) yield `${at}.${name}: ${numbers.length} numbers, of shape [${shape}]`;
  }
}

/** Lists with a wrong length; absent lists aren't checked. */
function* lengthProblems(
  lists: Readonly<Record<string, readonly unknown[] | undefined>>,
  length: number,
  things: string,
  at: string,
): Problems {
  for (const [name, list] of Object.entries(lists)) {
    if (list && list.length !== length) yield `${at}.${name}: ${list.length}, of ${length} ${things}`;
  }
}
