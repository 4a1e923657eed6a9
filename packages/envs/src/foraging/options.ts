import { checkOptions, fail } from '@coplay/core';
import { z } from 'zod';
import { type Settings, stepLimit, whole } from '../game';

/** Options of {@link levelForaging}. All have defaults. */
export interface LevelForagingOptions {
  /** Rows and columns of the square grid, 3 to 64. Default 8 */
  readonly size?: number | undefined;
  /** A, 1 to 9. Default 2 */
  readonly agents?: number | undefined;
  /** Foods at the start, 1 to 64; fewer where they don't fit. Default 2 */
  readonly foods?: number | undefined;
  /** The least level of an agent, 1 to 9. Default 1 */
  readonly minAgentLevel?: number | undefined;
  /** The highest level of an agent, minAgentLevel to 9. Default 2, or minAgentLevel if that is higher */
  readonly maxAgentLevel?: number | undefined;
  /** The least level of a food, 1 to 35. Default 1 */
  readonly minFoodLevel?: number | undefined;
  /** The highest level of a food, minFoodLevel to 35. Default: the sum of the three lowest levels of the agents */
  readonly maxFoodLevel?: number | undefined;
  /** How many cells far agents see, 1 or more. Default: `size`, all of the grid */
  readonly sight?: number | undefined;
  /** Whether all foods have the highest level. Default false */
  readonly forceCoop?: boolean | undefined;
  /** Steps after which an episode is truncated, 1 to 1,000,000. Default 50 */
  readonly maxSteps?: number | undefined;
  /** Whether all rewards of an episode in which all food is loaded sum to 1. Default true */
  readonly normalizeReward?: boolean | undefined;
  /** What agents pay that load food of a higher level than theirs together, 0 or more. Default 0 */
  readonly penalty?: number | undefined;
  /** `vector`: lists of foods and agents; `grid`: planes of the cells around the observer. Default `vector` */
  readonly observation?: 'vector' | 'grid' | undefined;
  /** Whether agents see levels of agents. Default true */
  readonly observeLevels?: boolean | undefined;
}

const schema = z
  .object({
    size: whole(3, 64).default(8),
    agents: whole(1, 9).default(2),
    foods: whole(1, 64).default(2),
    minAgentLevel: whole(1, 9).default(1),
    maxAgentLevel: whole(1, 9).optional(),
    minFoodLevel: whole(1, 35).default(1),
    maxFoodLevel: whole(1, 35).optional(),
    sight: whole(1, 1_000_000).optional(),
    forceCoop: z.boolean().default(false),
    maxSteps: stepLimit.default(50),
    normalizeReward: z.boolean().default(true),
    penalty: z.number().min(0).default(0),
    observation: z.enum(['vector', 'grid']).default('vector'),
    observeLevels: z.boolean().default(true),
  })
  .strict();

/** The options with every default filled in; `maxFoodLevel` is 0 for the sum of the lowest levels. */
export type ForagingSettings = Settings<LevelForagingOptions>;

/** Checks options and fills in defaults. @throws CoplayError that names the option */
export function resolveOptions(options: LevelForagingOptions): ForagingSettings {
  const given = checkOptions('levelForaging', schema, options);
  const { size, agents, minAgentLevel, minFoodLevel, sight = size } = given;
  const { maxAgentLevel = Math.max(2, minAgentLevel), maxFoodLevel = 0 } = given;
  if (maxAgentLevel < minAgentLevel) {
    const expected = `at least minAgentLevel, ${minAgentLevel}`;
    fail('levelForaging: option maxAgentLevel', expected, String(maxAgentLevel), 'Exchange or change them.');
  }
  const highest = maxFoodLevel || Math.min(3, agents) * minAgentLevel;
  if (highest < minFoodLevel) {
    const what = maxFoodLevel ? 'maxFoodLevel' : 'the least sum of the three lowest levels of agents';
    const expected = `at most ${what}, ${highest}`;
    fail('levelForaging: option minFoodLevel', expected, String(minFoodLevel), 'Lower it, or give maxFoodLevel.');
  }
  // Beyond the grid nothing is seen: a larger sight would only make planes larger.
  return { ...given, maxAgentLevel, maxFoodLevel, sight: Math.min(sight, size) };
}
