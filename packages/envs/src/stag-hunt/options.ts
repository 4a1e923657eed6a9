import { checkOptions, fail } from '@coplay/core';
import { z } from 'zod';
import { checkRoom, type Settings, stepLimit, whole } from '../game';

/** Options of `stagHunt`. All have defaults: the paper's game MSH-4h1s on 8x8. */
export interface StagHuntOptions {
  /** Rows and columns of the square grid, 1 to 64. Default 8 */
  readonly size?: number | undefined;
  /** A, 1 to 8. Default 4 */
  readonly agents?: number | undefined;
  /** Stags at the start, 0 or more. Default 1 */
  readonly stags?: number | undefined;
  /** Hares at the start, 0 or more. Default 4 */
  readonly hares?: number | undefined;
  /** Steps after which an episode is truncated, 1 to 1,000,000. Default 35 */
  readonly maxSteps?: number | undefined;
  /** The reward for a stag, for all its hunters together. Default 10 */
  readonly stagReward?: number | undefined;
  /** The reward for a hare, for all its hunters together. Default 1 */
  readonly hareReward?: number | undefined;
  /** Paid in each step to every agent on the map before it; negative for a cost of time. Default 0 */
  readonly stepReward?: number | undefined;
  /** The most obstacle pieces (of 3 or 4 cells), 0 or more. Default floor(5 size^2 / 64), and 0 below size 6 */
  readonly obstaclePieces?: number | undefined;
  /** [A] positive; the hunters of a stag share it in proportion. Default: all equal. Hares are always split equally */
  readonly strengths?: readonly number[] | undefined;
  /** Whether hunting a stag is legal only where at least two agents stand. Default false */
  readonly stagNeedsPartner?: boolean | undefined;
  /**
   * Probability, 0 to 1, that a partner joins a lone hunter of a stag: it catches the stag and is paid half of it. An
   * easier game for training (`curriculum`) or imagination. Default: none joins
   */
  readonly partnerChance?: number | undefined;
  /** Probability, 0 to 1, that a prey moves to a random free neighbour in a step. Default 0 */
  readonly preyMoves?: number | undefined;
  /** Truncates the episode this many steps after the first catch, 1 or more; `false` doesn't. Default false */
  readonly stepsAfterFirstHunt?: number | false | undefined;
  /** Cells that an agent sees in each direction, 1 to 64, around itself; `false` is the whole grid. Default false */
  readonly viewRadius?: number | false | undefined;
  /** Adds everyone's previous action to the observation. Default false */
  readonly previousActions?: boolean | undefined;
}

const schema = z
  .object({
    size: whole(1, 64).default(8),
    agents: whole(1, 8).default(4),
    stags: whole(0, 4096).default(1),
    hares: whole(0, 4096).default(4),
    maxSteps: stepLimit.default(35),
    stagReward: z.number().default(10),
    hareReward: z.number().default(1),
    stepReward: z.number().default(0),
    obstaclePieces: whole(0, 1000).optional(),
    strengths: z.array(z.number().positive()).readonly().optional(),
    stagNeedsPartner: z.boolean().default(false),
    partnerChance: z.number().min(0).max(1).optional(),
    preyMoves: z.number().min(0).max(1).default(0),
    stepsAfterFirstHunt: z.union([z.literal(false), whole(1, 1_000_000)]).default(false),
    viewRadius: z.union([z.literal(false), whole(1, 64)]).default(false),
    previousActions: z.boolean().default(false),
  })
  .strict();

/** The options with every default filled in. */
export type StagHuntSettings = Settings<Omit<StagHuntOptions, 'partnerChance'>> &
  Pick<StagHuntOptions, 'partnerChance'>;

/** Checks options and fills in defaults. @throws CoplayError that names the option */
export function resolveOptions(options: StagHuntOptions): StagHuntSettings {
  const given = checkOptions('stagHunt', schema, options);
  const { size, agents, stags, hares } = given;
  const settings = {
    ...given,
    obstaclePieces: given.obstaclePieces ?? (size < 6 ? 0 : Math.floor((5 * size * size) / 64)),
    strengths: given.strengths ?? new Array<number>(agents).fill(1),
  };
  if (settings.strengths.length !== agents) {
    const got = `${settings.strengths.length} strengths`;
    fail('stagHunt: option strengths', `${agents} strengths, one for each agent`, got, 'Give as many as agents.');
  }
  const each = `${agents} agents, ${stags} stags and ${hares} hares`;
  checkRoom('stagHunt', size, agents + stags + hares, 'agents and prey', each);
  return settings;
}
