import { show } from '../errors';
import type { Game, ObservationField } from '../game';
import type { Findings } from './findings';

const FUNCTIONS = ['reset', 'step', 'legal', 'observe', 'isActive', 'elapsed'] as const;
const DTYPES = ['uint8', 'int8', 'uint16', 'int16', 'uint32', 'int32', 'float32', 'float64'];

/**
 * Checks what a game says of itself.
 *
 * @returns whether it can be played at all
 */
export function checkDescription(game: Game, findings: Findings): boolean {
  const before = findings.violations.length;
  for (const name of FUNCTIONS) {
    if (typeof game[name] !== 'function') wrong(findings, name, 'a function', game[name]);
  }
  if (typeof game.name !== 'string' || game.name === '') wrong(findings, 'name', 'a name', game.name);
  checkNames(findings, 'agents', game.agents, 1);
  checkNames(findings, 'actionNames', game.actionNames, 1);
  checkNames(findings, 'infos', game.infos, 0);
  for (const name of ['actions', 'stateSize', 'maxSteps'] as const) {
    if (!isCount(game[name])) wrong(findings, name, 'a whole number of at least 1', game[name]);
  }
  if (game.actionNames?.length !== game.actions) {
    wrong(findings, 'actionNames', `${game.actions} names, one for each action`, game.actionNames);
  }
  if (!DTYPES.includes(game.stateType)) wrong(findings, 'stateType', `one of ${DTYPES.join(', ')}`, game.stateType);
  checkObservation(game, findings);
  const isPlayable = findings.violations.length === before;
  checkOptionsAreJson(game, findings);
  return isPlayable;
}

function checkObservation({ observation }: Game, findings: Findings): void {
  const fields = Object.entries(observation ?? {});
  if (fields.length === 0) wrong(findings, 'observation', 'at least one field', observation);
  for (const [name, field] of fields) checkField(findings, `observation.${name}`, field);
  if (observation && 'mask' in observation) {
    const remedy = 'Rename the field: parallelEnv gives the mask of legal() under that name.';
    findings.add('description', 'observation', 'no field named "mask"', 'one', remedy);
  }
}

function checkField(findings: Findings, place: string, { shape, dtype, channels }: ObservationField): void {
  if (!Array.isArray(shape) || !shape.every(isCount)) wrong(findings, place, 'a shape of numbers of at least 1', shape);
  if (!DTYPES.includes(dtype)) wrong(findings, place, `a dtype of ${DTYPES.join(', ')}`, dtype);
  if (channels && channels.length !== shape.at(-1)) {
    wrong(findings, place, `${shape.at(-1)} channels, one for each entry of the last dimension`, channels);
  }
}

function checkNames(findings: Findings, place: string, names: readonly string[], least: number): void {
  const valid =
    Array.isArray(names) &&
    names.length >= least &&
    names.every((name) => typeof name === 'string' && name !== '') &&
    new Set(names).size === names.length;
  if (!valid) wrong(findings, place, `a list of at least ${least} different names`, names);
}

/** Options go into run directories and checkpoints. */
function checkOptionsAreJson({ options }: Game, findings: Findings): void {
  if (options !== null && typeof options === 'object' && survivesJson(options)) return;
  const remedy = 'Use numbers, strings, booleans, null, lists and records.';
  findings.add('description', 'options', 'a record that survives JSON', show(options), remedy);
}

function survivesJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || value === undefined) return true;
  if (Array.isArray(value)) return value.every((entry) => entry !== undefined && survivesJson(entry));
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(survivesJson);
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 1;
}

function wrong(findings: Findings, place: string, expected: string, got: unknown): void {
  findings.add('description', place, expected, show(got), `Mend ${place} of the game.`);
}
