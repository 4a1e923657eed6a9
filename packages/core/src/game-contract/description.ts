import { show } from '../errors';
import type { AnyGame } from '../game';
import { descriptionFaults } from '../game-description';
import type { Findings } from './findings';

/**
 * Checks a game's description of itself.
 *
 * @returns whether it can be played at all
 */
export function checkDescription(game: AnyGame, findings: Findings): boolean {
  const faults = descriptionFaults(game);
  for (const { part, expected, got, remedy } of faults) findings.add('description', part, expected, got, remedy);
  if (game.observation && 'mask' in game.observation) {
    const remedy = 'Rename the field: parallelEnv gives the mask of legal() under that name.';
    findings.add('description', 'observation', 'no field named "mask"', 'one', remedy);
  }
  checkOptionsAreJson(game, findings);
  return faults.length === 0;
}

/** Options go into run directories and checkpoints. */
function checkOptionsAreJson({ options }: AnyGame, findings: Findings): void {
  if (survivesJson(options)) return;
  const remedy = 'Use numbers, strings, booleans, null, lists and records.';
  findings.add('description', 'options', 'a record that survives JSON', show(options), remedy);
}

function survivesJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || value === undefined) return true;
  if (Array.isArray(value)) return value.every((entry) => entry !== undefined && survivesJson(entry));
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(survivesJson);
}
