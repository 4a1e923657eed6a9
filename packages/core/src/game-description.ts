import { type ActionSpaces, actionLayout, spacesFault } from './action-spaces';
import { show } from './errors';
import type { AnyGame, ExperienceSpec, Game } from './game';
import type { ObservationField, ObservationSpec } from './observations';
import { kindFault } from './observations';
import type { DType } from './typed-arrays';
import { DTYPES } from './typed-arrays';

/** One part of a game's description that is wrong, such as `actions`. */
export interface DescriptionFault {
  readonly part: string;
  readonly expected: string;
  readonly got: string;
  readonly remedy: string;
}

/** Takes note of a fault. The remedy may be left out where the expectation says it all. */
type Refuse = (part: string, expected: string, got: unknown, remedy?: string) => void;

const FUNCTIONS = ['reset', 'step', 'legal', 'observe', 'isActive', 'elapsed'] as const;
const OPTIONAL_FUNCTIONS = ['readLayout', 'writeLayout', 'scene'] as const;
const COUNT = 'a whole number of at least 1';

/**
 * The fault in the names, numbers, shapes and functions that a game consists of. Nothing is played.
 *
 * @returns one fault for each part that is wrong; none for a game that can be played
 */
export function descriptionFaults<State extends DType>(game: Game<State, ActionSpaces>): DescriptionFault[] {
  return collectFaults((refuse) => {
    checkFunctions(game, '', FUNCTIONS, OPTIONAL_FUNCTIONS, refuse);
    checkSpec(game, refuse);
    if (isRecord(game.observation) && Object.keys(game.observation).length === 0) {
      refuse('observation', 'at least one field', game.observation);
    }
    checkNumbers(game, refuse);
    if (typeof game.name !== 'string' || game.name === '') refuse('name', 'a name', game.name);
    checkNames('infos', game.infos, 0, refuse);
    const { observesState = false } = game;
    if (typeof observesState !== 'boolean') refuse('observesState', 'true or false', observesState);
    if (!isRecord(game.options)) refuse('options', 'a record', game.options, 'Give {} if the game has no options.');
    checkGoals(game, refuse);
    checkGrid(game, refuse);
    if (game.external !== undefined) checkFunctions(game.external, 'external.', ['open'], [], refuse);
  });
}

/** The same for the part that determines the sizes of experience: agents, actions, observations. */
export function specFaults(spec: ExperienceSpec<ActionSpaces>): DescriptionFault[] {
  return collectFaults((refuse) => checkSpec(spec, refuse));
}

function collectFaults(check: (refuse: Refuse) => void): DescriptionFault[] {
  const faults: DescriptionFault[] = [];
  check((part, expected, got, remedy = `Correct ${part} in the game (docs/writing-an-environment.md).`) => {
    faults.push({ part, expected, got: show(got), remedy });
  });
  return faults;
}

function checkSpec({ agents, actions, observation }: ExperienceSpec<ActionSpaces>, refuse: Refuse): void {
  checkNames('agents', agents, 1, refuse);
  const wrong = spacesFault(actions, agents);
  if (wrong) {
    const remedy =
      'Give the number of discrete actions, and let legal() mask the actions that an agent may not use; or a space of ' +
      'box() or multiDiscrete(), or one for each agent (docs/spaces.md).';
    refuse(wrong.part, `a space for each agent, or ${COUNT}, the same for every agent`, wrong.got, remedy);
  }
  checkObservation(observation, refuse);
}

function checkNumbers(game: AnyGame, refuse: Refuse): void {
  const { agents, actions, actionNames, stateSize, stateType, maxSteps } = game;
  checkNames('actionNames', actionNames, 1, refuse);
  if (spacesFault(actions, agents) === undefined && Array.isArray(agents) && Array.isArray(actionNames)) {
    const isDiscrete = typeof actions === 'number';
    const count = isDiscrete ? actions : actionLayout({ agents, actions }).width;
    const each = isDiscrete ? 'action' : 'value of an action';
    if (actionNames.length !== count) refuse('actionNames', `${count} names, one for each ${each}`, actionNames);
  }
  if (!isCount(stateSize)) refuse('stateSize', COUNT, stateSize);
  if (!DTYPES.includes(stateType)) refuse('stateType', `one of ${DTYPES.join(', ')}`, stateType);
  if (!isCount(maxSteps))
    refuse('maxSteps', COUNT, maxSteps, 'Give the step in which an episode is cut at the latest.');
}

function checkObservation(observation: ObservationSpec, refuse: Refuse): void {
  if (!isRecord(observation)) {
    refuse('observation', 'a record of fields', observation);
    return;
  }
  checkKeys('observation', Object.keys(observation), refuse);
  for (const [name, field] of Object.entries(observation)) checkField(`observation.${name}`, field, refuse);
}

function checkField(part: string, field: ObservationField, refuse: Refuse): void {
  if (!isRecord(field)) {
    refuse(part, 'a field: { shape, dtype }', field);
    return;
  }
  const { shape, dtype, channels } = field;
  if (!Array.isArray(shape) || !shape.every(isCount)) {
    refuse(part, 'a shape of whole numbers of at least 1', shape, 'Give [] for one number.');
    return;
  }
  if (!DTYPES.includes(dtype)) refuse(part, `a dtype of ${DTYPES.join(', ')}`, dtype);
  if (channels && channels.length !== shape.at(-1)) {
    refuse(part, `${shape.at(-1)} channels, one for each entry of the last dimension`, channels);
  }
  const fault = kindFault(field);
  if (fault) refuse(part, fault.expected, fault.got);
}

function checkGoals({ goals, observation }: AnyGame, refuse: Refuse): void {
  if (goals === undefined) return;
  if (!isRecord(goals)) {
    refuse('goals', 'a set of goals', goals);
    return;
  }
  const { names, noGoal, reads = [], readsStates = false } = goals;
  checkNames('goals.names', names, 1, refuse);
  checkFunctions(goals, 'goals.', ['reached'], ['isOpen'], refuse);
  if (typeof readsStates !== 'boolean') refuse('goals.readsStates', 'true or false', readsStates);
  if (noGoal !== undefined && !(Number.isInteger(noGoal) && noGoal >= 0 && noGoal < names?.length)) {
    refuse('goals.noGoal', `a goal from 0 to ${names?.length - 1}`, noGoal);
  }
  const fields = isRecord(observation) ? Object.keys(observation) : [];
  if (!Array.isArray(reads) || !reads.every((name) => fields.includes(name))) {
    refuse('goals.reads', `fields among ${fields.join(', ')}`, reads);
  }
}

function checkGrid({ grid }: AnyGame, refuse: Refuse): void {
  if (grid === undefined) return;
  if (!isRecord(grid)) {
    refuse('grid', 'the parts of a grid', grid);
    return;
  }
  for (const size of ['rows', 'columns'] as const) if (!isCount(grid[size])) refuse(`grid.${size}`, COUNT, grid[size]);
  for (const kind of ['things', 'fixed', 'events'] as const) checkNames(`grid.${kind}`, grid[kind], 0, refuse);
  checkFunctions(grid, 'grid.', ['read', 'write', 'see', 'eventOf', 'pay'], ['isOver'], refuse);
}

/** Checks that some parts are functions, and that others are functions or absent. */
function checkFunctions<Part>(
  owner: Part,
  prefix: string,
  required: readonly (keyof Part & string)[],
  optional: readonly (keyof Part & string)[],
  refuse: Refuse,
): void {
  for (const name of [...required, ...optional]) {
    const part: unknown = owner[name];
    if (typeof part === 'function' || (part === undefined && optional.includes(name))) continue;
    refuse(`${prefix}${name}`, 'a function', part);
  }
}

function checkNames(part: string, names: readonly string[], least: number, refuse: Refuse): void {
  const isValid =
    Array.isArray(names) &&
    names.length >= least &&
    names.every((name) => typeof name === 'string' && name !== '') &&
    new Set(names).size === names.length;
  if (!isValid) refuse(part, least === 0 ? 'a list of different names' : `at least ${least} different names`, names);
  else if (part !== 'agents') checkKeys(part, names, refuse);
}

/** Arrays stand in plain objects under these names, where this one would set the prototype. */
function checkKeys(part: string, names: readonly string[], refuse: Refuse): void {
  if (names.includes('__proto__')) refuse(part, 'names other than __proto__', names);
}

function isRecord(value: unknown): boolean {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 1;
}
