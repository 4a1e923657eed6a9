/** What is known of trained agents. */
export interface ZooCard {
  /** The game and the algorithm: `stag-hunt-4x4/ppo`. */
  readonly name: string;
  /** As `remakeGame` of `@coplay/envs` makes it. */
  readonly game: { readonly name: string; readonly options: Readonly<Record<string, unknown>> };
  /** Of each learner: `ppo`. */
  readonly algorithm: string;
  /** What `coplay train` trained, with all that isn't a default: `coplay train CONFIGURATION.json` repeats it. */
  readonly configuration: Readonly<Record<string, unknown>>;
  /** The command that trained and measured them, in the repository. */
  readonly command: string;
  /** Of the repository at the training; with a `+` where files had changed. */
  readonly commit: string;
  /** The version of Coplay that trained them. */
  readonly version: string;
  /** Of the training. */
  readonly seed: number;
  /** Environment steps of the training. */
  readonly envSteps: number;
  /** The mean return of an agent in episodes after the training, with a 95 % interval over episodes. */
  readonly return: {
    readonly mean: number;
    readonly lower: number;
    readonly upper: number;
    readonly episodes: number;
  };
  /** The mean return of each agent in the same episodes. */
  readonly byAgent: Readonly<Record<string, number>>;
  /** The size of the file. */
  readonly bytes: number;
  /** The SHA-256 of the file, in hexadecimal. */
  readonly sha256: string;
}
