import type { Complaint } from '../errors';

/**
 * The rules that a game can break.
 *
 * - `description`: names, numbers and shapes that the game says of itself
 * - `exception`: a function of the game threw
 * - `arrays`: it wrote outside its part of an array, or into one that it should only read
 * - `reset`: the first state depends on the previous content of the array
 * - `determinism`: the same seed and actions gave two episodes
 * - `hidden-state`: a step from a copied state gave another result
 * - `observation`: not all of a row is written, a value doesn't fit its dtype, or `observesState` isn't so
 * - `mask`: bytes other than 0 and 1, or the wrong number of legal actions
 * - `activity`: agents that join or come back, or that earn or count after they left
 * - `result`: rewards, ends and infos that are missing or not what they should be
 * - `ending`: an episode that doesn't end by `maxSteps`, or ends for some only
 * - `elapsed`: steps that are miscounted
 * - `goals`: `reached` returns no goal of the game, or one that wasn't open, or depends on more than it says
 * - `layout`: a map that doesn't read back
 * - `scene`: things outside the picture
 * - `allocation`: memory that grows with every step; a warning, since it makes a game slow and not wrong
 */
export type GameRule =
  | 'description'
  | 'exception'
  | 'arrays'
  | 'reset'
  | 'determinism'
  | 'hidden-state'
  | 'observation'
  | 'mask'
  | 'activity'
  | 'result'
  | 'ending'
  | 'elapsed'
  | 'goals'
  | 'layout'
  | 'scene'
  | 'allocation';

/** `error`: the game is wrong, and so is everything that is learned in it. `warning`: it's slower than it could be. */
export type Severity = 'error' | 'warning';

/** One way in which a game breaks the contract: where, what was expected, what happened, how to mend it. */
export interface Violation extends Complaint {
  readonly rule: GameRule;
  readonly severity: Severity;
}

/** The rules about speed. All others are about correctness. */
const SPEED: readonly GameRule[] = ['allocation'];

/** Thrown inside the checker when play can't go on; what happened is in the findings already. */
export class Unplayable extends Error {
  override readonly name = 'Unplayable';
}

/** Collects violations: of each rule in each function of the game only the first. */
export class Findings {
  readonly violations: Violation[] = [];
  /** Where in the play the checker is, for messages. */
  moment = 'before the first episode';

  constructor(private readonly game: string) {}

  /**
   * @param place  the part of the game that is at fault, such as `step`
   */
  add(rule: GameRule, place: string, expected: string, got: string, remedy: string): void {
    const where = `${this.game}.${place}`;
    if (this.violations.some((violation) => violation.rule === rule && violation.where === where)) return;
    const severity = SPEED.includes(rule) ? 'warning' : 'error';
    this.violations.push({ rule, severity, where, expected, got: `${got} (${this.moment})`, remedy });
  }
}
