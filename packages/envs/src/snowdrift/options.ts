import { checkOptions } from '@coplay/core';
import { z } from 'zod';
import { checkRoom, type Settings, stepLimit, whole } from '../game';

/** Options of `snowdrift`. All have defaults: the paper's game. */
export interface SnowdriftOptions {
  /** Rows and columns of the square grid, 1 to 64. Default 8 */
  readonly size?: number | undefined;
  /** A, 1 to 8. Default 4 */
  readonly agents?: number | undefined;
  /** Snowdrifts at the start, 1 or more. Default 6 */
  readonly drifts?: number | undefined;
  /** Steps after which an episode is truncated, 1 to 1,000,000. Default 50 */
  readonly maxSteps?: number | undefined;
  /** Paid to every agent for each drift that is cleared. Default 6 */
  readonly driftReward?: number | undefined;
  /** What clearing a drift costs its shovellers together. Default 4 */
  readonly shovelCost?: number | undefined;
  /** The most obstacle pieces (of 3 or 4 cells), 0 or more. Default 0 */
  readonly obstaclePieces?: number | undefined;
}

const schema = z
  .object({
    size: whole(1, 64).default(8),
    agents: whole(1, 8).default(4),
    drifts: whole(1, 4096).default(6),
    maxSteps: stepLimit.default(50),
    driftReward: z.number().default(6),
    shovelCost: z.number().default(4),
    obstaclePieces: whole(0, 1000).default(0),
  })
  .strict();

/** The options with every default filled in. */
export type SnowdriftSettings = Settings<SnowdriftOptions>;

/** Checks options and fills in defaults. @throws CoplayError that names the option */
export function resolveOptions(options: SnowdriftOptions): SnowdriftSettings {
  const settings = checkOptions('snowdrift', schema, options);
  const { size, agents, drifts } = settings;
  checkRoom('snowdrift', size, agents + drifts, 'agents and drifts', `${agents} agents and ${drifts} drifts`);
  return settings;
}
