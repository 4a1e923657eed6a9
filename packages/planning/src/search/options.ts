import { checkGame, checkOptions, type Game, type Simulator } from '@coplay/core';
import { checkSimulator } from '@coplay/core/checks';
import { z } from 'zod';

/** Noise on the prior at the root: P <- (1 - fraction) P + fraction * Dirichlet(alpha), over legal actions. */
export interface RootNoise {
  /** Concentration of each action, above 0 */
  readonly alpha: number;
  /** Weight of the noise, 0 to 1 */
  readonly fraction: number;
}

/** Options of {@link createSearch}. The defaults are HOP's in the stag hunt (Huang et al. 2024). */
export interface SearchOptions {
  /** Its rules determine legal actions, active agents, and observations. */
  readonly game: Game;
  /**
   * What plays the steps: a learned model of the world. Default: the rules of the game, each tree with its own random
   * numbers. A simulator has one generator for all rows, so with one that draws, a root's result depends on what else
   * is searched
   */
  readonly simulator?: Simulator | undefined;
  /** Simulations in each tree, 0 or more; with 0 the policy is the prior. Default 200 */
  readonly simulations?: number | undefined;
  /** Trees for each root, 1 or more; each draws its own goals for the co-players. Default 5 */
  readonly trees?: number | undefined;
  /** c of PUCT, above 0: Q + c P sqrt(sum N) / (1 + N). Default 1 */
  readonly exploration?: number | undefined;
  /**
   * Q of actions that a tree hasn't tried yet in a state: `zero`, as in HOP; or `parent`, the state's present estimate:
   * the mean of the critic's value there and of all returns from there (mctx's `qtransform_by_parent_and_siblings`,
   * without its scaling). Where returns are above 0, `zero` repeats good actions before it tries new ones. Default
   * `zero`
   */
  readonly unvisited?: 'zero' | 'parent' | undefined;
  /** Discount per step, 0 to 1. Default 0.95 */
  readonly gamma?: number | undefined;
  /**
   * The target: `boltzmann` is proportional to exp(rationality * Q), `visits` to how often the root's actions were
   * tried. Default `boltzmann`
   */
  readonly policy?: 'boltzmann' | 'visits' | undefined;
  /** beta of the Boltzmann policy, 0 or more. Default 2 */
  readonly rationality?: number | undefined;
  /** The actions are drawn in proportion to policy^(1 / temperature); 0 takes the best. Default 1 */
  readonly temperature?: number | undefined;
  /** Default false, as it must be in evaluation */
  readonly rootNoise?: RootNoise | false | undefined;
  /**
   * When a tree draws co-players' actions, and the random draws of the rules: once for each node, or again at each
   * visit. Per node, a tree plans for one draw as if it were certain, which is optimistic; the mean over trees reduces
   * this bias. Per visit costs one step of the simulator for each level. Default `perNode`
   */
  readonly coPlayerSampling?: 'perNode' | 'perVisit' | undefined;
  /**
   * The value of a state at a time limit: the critic's value of its observation, or 0, as for an end by the rules.
   * Default `bootstrap`
   */
  readonly truncation?: 'bootstrap' | 'terminal' | undefined;
  /** Whether the networks evaluate equal states once, until `forget()`. Default true */
  readonly cacheAnswers?: boolean | undefined;
  /**
   * Largest number of answers that are kept from one search to the next; a search that begins above it forgets all.
   * Default 200,000
   */
  readonly capacity?: number | undefined;
  /**
   * Additional inputs of the networks: the previous actions of all agents, the number of the root. Only then do rows
   * carry them. Default neither
   */
  readonly networkInputs?:
    | { readonly previousActions?: boolean | undefined; readonly root?: boolean | undefined }
    | undefined;
}

const whole = (min: number) => z.int(`a whole number, at least ${min}`).min(min, `a whole number, at least ${min}`);

const schema = z
  .object({
    game: z.custom<Game>(),
    simulator: z.custom<Simulator>().optional(),
    simulations: whole(0).default(200),
    trees: whole(1).default(5),
    exploration: z.number().positive().default(1),
    unvisited: z.enum(['zero', 'parent']).default('zero'),
    gamma: z.number().min(0).max(1).default(0.95),
    policy: z.enum(['boltzmann', 'visits']).default('boltzmann'),
    rationality: z.number().min(0).default(2),
    temperature: z.number().min(0).default(1),
    rootNoise: z
      .union([z.literal(false), z.strictObject({ alpha: z.number().positive(), fraction: z.number().min(0).max(1) })])
      .default(false),
    coPlayerSampling: z.enum(['perNode', 'perVisit']).default('perNode'),
    truncation: z.enum(['bootstrap', 'terminal']).default('bootstrap'),
    cacheAnswers: z.boolean().default(true),
    capacity: whole(0).default(200_000),
    networkInputs: z
      .strictObject({ previousActions: z.boolean().default(false), root: z.boolean().default(false) })
      .default({ previousActions: false, root: false }),
  })
  .strict();

/** The options with every default filled in. */
export type SearchSettings = z.output<typeof schema>;

/**
 * The settings that {@link createSearch} would search with, without making a search: for run directories and
 * checkpoints.
 *
 * @param where  the function whose options these are, for messages
 * @throws CoplayError that names an unknown or wrong option
 */
export function resolveSearch(options: SearchOptions, where = 'resolveSearch'): SearchSettings {
  const settings = checkOptions(where, schema, options);
  checkGame(`${where}: option game`, settings.game);
  const { game, simulator } = settings;
  if (simulator !== undefined) checkSimulator(`${where}: option simulator`, simulator, game);
  return settings;
}
