import {
  type ActionSpaces,
  type Agent,
  type AgentId,
  checkGame,
  checkOptions,
  createGenerator,
  createRollout,
  type EvaluateOptions,
  type Evaluation,
  type Experience,
  evaluate,
  fail,
  type Game,
  type Generator,
  type GeneratorState,
  generatorFrom,
  type LogEntry,
  type Metrics,
  type Rollout,
  type Saved,
  type SavedState,
  seatAgents,
  streamSeed,
  type VectorEnv,
  vectorEnv,
} from '@coplay/core';
import { checkMetrics, checkRecord, oneAtATime, restorePart, yieldToEventLoop } from '@coplay/core/checks';
import { z } from 'zod';
import { checkCurriculum, type Explorers } from '../exploration';
import { isLearning, type Learner } from '../training';
import { stackLearners } from '../training/lockstep';
import { takeOverParts } from '../training/restore';
import { checkAgents, checkLearner, checkLearners, checkSaved } from './checks';
import { type EpisodeTracker, episodeTracker } from './episode-tracker';
import { type BestEvaluation, EvaluationScores, evaluationMetrics } from './evaluations';
import { mergeMetrics, Stopwatch } from './metrics';
import { type ResolvedSelfPlay, resolveSelfPlay, type SelfPlayOptions, type TrainingMoment } from './options';
import { ownExperience, population, withoutPartners } from './partners';
import { RunFiles } from './run-files';
import { Sinks } from './sinks';

/** How far {@link SelfPlay.train} goes. */
export interface TrainOptions {
  /**
   * Environment steps in all, counted from the start of the run, rounded up to whole rollouts of E x T; at least 1.
   * A later call with a larger number goes on; a call with a number already reached does nothing.
   */
  readonly envSteps: number;
  /**
   * Environment steps at which schedules end (learning rates that fall, curricula); at least 1. Give the same number in
   * each call where a run is trained in several. Default: `envSteps`
   */
  readonly horizon?: number;
  /** Stops the run after the present update, in good order; see `interruptSignal`. */
  readonly signal?: AbortSignal;
}

/** A run of self-play. */
export interface SelfPlay<Spaces extends ActionSpaces = number> {
  readonly agents: readonly Agent<Saved, Spaces>[];
  readonly learners: readonly Learner[];
  /**
   * The agents that train in lockstep: the ids of each group whose learners run in one graph (`Learner.lockstep`).
   * Agents whose learners run by themselves are in none. Empty before the run first trains, evaluates or saves.
   */
  readonly lockstep: readonly (readonly AgentId[])[];
  /** Steps done: one step of one environment counts 1, however many agents act in it. */
  readonly envSteps: number;
  readonly updates: number;
  /** Episodes that have ended. */
  readonly episodes: number;
  /** The best evaluation in training so far (`evaluateEvery`); undefined before the first. */
  readonly best: BestEvaluation | undefined;
  /**
   * Trains until `envSteps` are done, the signal stops it or the option `patience` is over; then a checkpoint is
   * written, if there's a directory.
   */
  train(options: TrainOptions): Promise<void>;
  /**
   * Plays new games with the present agents, as `evaluate` of `@coplay/core` does. Changes nothing in the run. Without
   * a seed, the games are the same in every call, and differ from the training's.
   */
  evaluate(options?: EvaluateOptions): Promise<Evaluation>;
  /** What calls of `train` could not write into logs, a line for each log; empty where all was written. */
  readonly missing: readonly string[];
  /**
   * Takes the directory for this run until the returned function is called: no other run can write there meanwhile.
   * `train` and `save` do so themselves for as long as they take. Without a directory it does nothing.
   *
   * @throws CoplayError that says which process holds it
   */
  hold(): () => void;
  /**
   * Writes a checkpoint now and returns its path.
   *
   * @throws CoplayError without a directory, or if the directory holds a run that this one was not resumed from
   */
  save(): Promise<string>;
  /**
   * Goes on from the newest good checkpoint in the directory; false if there is none.
   *
   * @throws CoplayError if there are checkpoints, but none can be read, or they are of another run
   */
  resume(): Promise<boolean>;
  state(): Promise<SavedState>;
  restore(saved: SavedState): Promise<void>;
  /**
   * Frees the learners' memory, and the environments of an external game.
   *
   * @throws CoplayError while `train` runs
   */
  dispose(): void;
}

const trainSchema = z.strictObject({
  envSteps: z.int().min(1),
  horizon: z.int().min(1).optional(),
  signal: z.instanceof(AbortSignal, { error: 'an AbortSignal, such as interruptSignal()' }).optional(),
});

/**
 * Agents play together in one batch of environments, and each learner receives the experience of all agents.
 *
 * @throws CoplayError for unknown options, or agents that don't fit the game
 */
export function selfPlay<Spaces extends ActionSpaces>(options: SelfPlayOptions<Spaces>): SelfPlay<Spaces> {
  const run: SelfPlay<ActionSpaces> = new SelfPlayRun(resolveSelfPlay(options));
  return run as unknown as SelfPlay<Spaces>;
}

class SelfPlayRun implements SelfPlay<ActionSpaces> {
  readonly agents: readonly Agent<Saved, ActionSpaces>[];
  readonly learners: readonly Learner[];
  readonly missing: string[] = [];
  lockstep: readonly (readonly AgentId[])[] = [];
  envSteps = 0;
  updates = 0;
  private readonly env: VectorEnv<ActionSpaces>;
  /** The agents that play in training: those of the run, or seats that these share with partners. */
  private readonly seated: readonly Agent<Saved, ActionSpaces>[];
  private readonly rollout: Rollout<ActionSpaces>;
  private readonly explorers: Explorers | undefined;
  private readonly tracker: EpisodeTracker;
  private readonly files: RunFiles;
  private readonly scores: EvaluationScores;
  private generators: Generator[];
  /** For first parameters: a learner's later draws don't depend on the number of draws for parameters. */
  private readonly starts: readonly Generator[];
  private isTraining = false;
  private isDisposed = false;
  /** An evaluation or a save that is asked for while the run trains waits for the end of the update. */
  private readonly inTurn = oneAtATime();

  constructor(private readonly options: ResolvedSelfPlay) {
    const { game, envs, seed, curriculum, exploration } = options;
    checkGame('selfPlay: option game', game, 'any', 'play');
    // Both are made of discrete actions.
    if (curriculum) checkGame('selfPlay with a curriculum: option game', game);
    if (exploration) checkGame('selfPlay with an exploration: option game', game);
    this.agents = seatAgents('selfPlay', game.agents, options.agents);
    this.learners = [...new Set(this.agents.filter(isLearning).map((agent) => agent.learner))];
    for (const agent of this.agents) if (isLearning(agent)) checkLearner(agent);
    checkAgents(this.agents);
    checkLearners(this.agents, this.learners);
    if (curriculum) checkCurriculum('selfPlay', curriculum, game as Game);
    this.env = vectorEnv(curriculum?.game ?? game, { envs, seed: streamSeed(seed, 'train/env') });
    const partners = options.partners && population(game, this.agents, options.partners, seed);
    this.seated = partners?.seated ?? this.agents;
    const drawing = createGenerator(streamSeed(seed, 'train/exploration'));
    const discrete = { game: game as Game, agents: this.agents as readonly Agent[] };
    this.explorers = exploration?.start({ ...discrete, envs, generator: drawing });
    const players = this.explorers?.agents ?? this.seated;
    this.rollout = createRollout(this.env, players, createGenerator(streamSeed(seed, 'train/agents')));
    this.tracker = episodeTracker(game.agents, envs);
    this.files = new RunFiles(options, this.agents, this.learners, partners?.config);
    this.scores = new EvaluationScores(options.patience);
    this.generators = this.generatorsOf('train/learners');
    this.starts = this.generatorsOf('train/parameters');
  }

  /** One for each learner. Its numbers depend on the seats of its agents, not on the order of any list. */
  private generatorsOf(purpose: string): Generator[] {
    const { seed, game } = this.options;
    const root = createGenerator(streamSeed(seed, purpose));
    return this.learners.map((learner) => root.split(game.agents.indexOf(learner.ids[0])));
  }

  get best(): BestEvaluation | undefined {
    return this.scores.best;
  }

  get episodes(): number {
    return this.tracker.count;
  }

  async train(options: TrainOptions): Promise<void> {
    const { envSteps, signal, horizon = envSteps } = checkOptions('train', trainSchema, options);
    if (this.isTraining) fail('train', 'a run that is not training', 'one that is', 'Await the first train().');
    this.isTraining = true;
    try {
      await this.trainUntil(envSteps, horizon, signal);
    } finally {
      this.isTraining = false;
    }
  }

  private async trainUntil(envSteps: number, horizon: number, signal: AbortSignal | undefined): Promise<void> {
    await this.prepare('train');
    const { log, game, warn } = this.options;
    const info = { name: game.name, config: this.files.config, envSteps, startedAt: this.envSteps };
    const release = this.hold();
    const sinks = new Sinks(log, warn);
    try {
      await this.files.open();
      await closing(sinks, async () => {
        await sinks.start({ ...info, ...this.files.place });
        while (this.envSteps < envSteps && !signal?.aborted && !this.scores.isPatienceOver) {
          await this.inTurn(() => this.round(horizon, sinks));
          await yieldToEventLoop();
        }
        await this.inTurn(() => this.files.save(this.saveable, true));
      });
    } finally {
      release();
      this.tellMissing(sinks);
    }
  }

  hold(): () => void {
    return this.files.hold();
  }

  private tellMissing(sinks: Sinks): void {
    const missing = sinks.missing();
    this.missing.push(...missing);
    for (const line of missing) this.options.warn(line);
  }

  async evaluate(options: EvaluateOptions = {}): Promise<Evaluation> {
    checkRecord('selfPlay.evaluate', 'options', options);
    await this.prepare('evaluate');
    const { game } = this.options;
    const seed = options.seed ?? streamSeed(this.options.seed, 'train/evaluate');
    return this.inTurn(() => evaluate(game, this.agents, { ...options, seed }));
  }

  async save(): Promise<string> {
    await this.prepare('save');
    return this.inTurn(async () => {
      const release = this.hold();
      try {
        await this.files.open();
        return await this.files.write(this.saveable);
      } finally {
        release();
      }
    });
  }

  async resume(): Promise<boolean> {
    return this.files.resume((saved) => this.restore(saved));
  }

  async state(): Promise<SavedState> {
    await this.prepare('state');
    return this.inTurn(() => this.present());
  }

  /** The saved state, at the end of an update. */
  private get saveable() {
    return { envSteps: this.envSteps, updates: this.updates, state: () => this.present() };
  }

  private async present(): Promise<SavedState> {
    const learners: [string, SavedState][] = [];
    for (const learner of this.learners) learners.push([learner.name, await learner.state()]);
    const memories = this.seated.flatMap((agent) => (agent.save ? [[agent.id, agent.save()]] : []));
    return {
      envSteps: this.envSteps,
      updates: this.updates,
      env: { ...this.env.state() },
      rollout: this.rollout.state(),
      tracker: this.tracker.state(),
      ...(this.options.evaluateEvery && { evaluations: this.scores.state() }),
      ...(this.explorers && { explorers: this.explorers.state() }),
      generators: this.generators.map((generator) => [...generator.state()]),
      // fromEntries takes every name for a key, `__proto__` too.
      learners: Object.fromEntries(learners),
      memories: Object.fromEntries(memories),
    };
  }

  restore(saved: SavedState): Promise<void> {
    return this.inTurn(() => this.restoreWhole(saved));
  }

  /** Where a part refuses its state, all parts go back to how they were. */
  private async restoreWhole(saved: SavedState): Promise<void> {
    checkSaved(this.learners, this.seated, saved, this.explorers !== undefined);
    await this.prepare('restore'); // so that there is a state to go back to
    const { env, learners, memories, rollout, tracker, explorers, generators } = saved as Readonly<
      Record<string, SavedState>
    >;
    // Memory of numbers first: these refuse most of what doesn't fit before a network is made.
    const scores = new EvaluationScores(this.options.patience);
    scores.restore(saved['evaluations'] as SavedState | undefined);
    const words = restorePart('restore: saved.generators', () => {
      return (generators as unknown as GeneratorState[]).map(generatorFrom);
    });
    const environments = {
      state: () => ({ ...this.env.state() }),
      restore: (state: SavedState) => this.env.restore(state as unknown as ReturnType<VectorEnv['state']>),
    };
    const taken = await takeOverParts('restore', [
      { path: 'saved.env', part: environments, saved: env },
      { path: 'saved.rollout', part: this.rollout, saved: rollout },
      { path: 'saved.tracker', part: this.tracker, saved: tracker },
      ...(this.explorers ? [{ path: 'saved.explorers', part: this.explorers, saved: explorers }] : []),
      ...this.learners.map((learner) => {
        return { path: `saved.learners.${learner.name}`, part: learner, saved: learners[learner.name] as SavedState };
      }),
      ...this.seated.flatMap((agent) => {
        if (!Object.hasOwn(memories, agent.id) || !agent.restore) return [];
        const part = {
          state: () => agent.save?.() ?? {},
          restore: (state: SavedState) => agent.restore?.(state),
        };
        return [{ path: `saved.memories.${agent.id}`, part, saved: memories[agent.id] as SavedState }];
      }),
    ]);
    taken.keep();
    this.scores.restore(scores.state());
    this.generators = words;
    this.envSteps = saved['envSteps'] as number;
    this.updates = saved['updates'] as number;
    this.files.forgetSaved();
  }

  dispose(): void {
    if (this.isTraining) {
      fail('dispose', 'a run that is not training', 'one that is', 'Await train(); its option signal ends it early.');
    }
    this.isDisposed = true;
    for (const learner of this.learners) learner.dispose();
    this.env.close?.();
  }

  private async prepare(where: string): Promise<void> {
    if (this.isDisposed) {
      // Its learners would start anew without any sign that their learned parameters were lost.
      fail(where, 'a run that was not disposed of', 'one that was', 'Make a new one with selfPlay().');
    }
    for (let i = 0; i < this.learners.length; i++) await this.learners[i].initialise(this.starts[i]);
    const groups = stackLearners(this.learners);
    this.lockstep = groups.map((members) => members.flatMap(({ ids }) => ids));
  }

  /** One rollout, one update of every learner. */
  private async round(horizon: number, sinks: Sinks): Promise<void> {
    const { steps, envs, onRollout, clock, callbacks } = this.options;
    const progress = Math.min(1, this.envSteps / horizon);
    this.explorers?.setProgress(progress);
    this.options.curriculum?.setProgress(progress);
    await callbacks.beforeRollout?.(this.moment);
    const watch = new Stopwatch(clock);
    const experience = await this.rollout.collect(steps);
    watch.lap('collect');
    await callbacks.afterRollout?.({ ...this.moment, experience });
    await callbacks.beforeUpdate?.({ ...this.moment, experience });
    watch.skip();
    const learned = await this.learn(experience, progress);
    watch.lap('learn');
    this.envSteps += envs * steps;
    this.updates++;
    const metrics = {
      ...this.tracker.add(withoutPartners(experience)),
      ...this.explorers?.metrics(),
      ...mergeMetrics(learned),
      ...watch.metrics(envs * steps),
    };
    await callbacks.afterUpdate?.({ ...this.moment, metrics });
    Object.assign(metrics, await this.evaluateIfDue());
    const entry: LogEntry = { envSteps: this.envSteps, update: this.updates, metrics };
    await sinks.write(entry);
    await onRollout?.(experience, { envSteps: this.envSteps, update: this.updates });
    await this.files.save(this.saveable, false);
  }

  private get moment(): TrainingMoment {
    return { envSteps: this.envSteps, update: this.updates };
  }

  /** Plays an evaluation where one is due, and keeps the state of the best. @returns its metrics */
  private async evaluateIfDue(): Promise<Metrics> {
    const { evaluateEvery, evaluateEpisodes: episodes, callbacks, keepBest, score: scoreOf, game } = this.options;
    if (evaluateEvery === false || this.updates % evaluateEvery !== 0) return {};
    await callbacks.beforeEvaluation?.(this.moment);
    const seed = streamSeed(this.options.seed, 'train/evaluations');
    const evaluation = await evaluate(game, this.agents, { episodes, seed });
    const score = scoreOf(evaluation);
    const isBest = this.scores.add(score, this.envSteps);
    if (isBest && keepBest) await this.files.keepBest(this.saveable);
    await callbacks.afterEvaluation?.({ ...this.moment, evaluation, score, isBest });
    return evaluationMetrics(evaluation, score, this.scores);
  }

  /**
   * One update of every learner, all at once: learners of one kind run in lockstep, in one graph. The first failure is
   * reported.
   */
  private async learn(experience: Experience<ActionSpaces>, progress: number): Promise<[string, Metrics][]> {
    const updates = this.learners.map(async (learner, i): Promise<[string, Metrics]> => {
      const data = {
        experience: ownExperience(experience, learner) as Experience, // a learner refuses spaces that it doesn't take
        progress,
        generator: this.generators[i],
        warn: this.options.warn,
      };
      const metrics = await this.files.guard(learner, () => learner.update(data));
      return [learner.name, checkMetrics(`${learner.name}.update`, metrics)];
    });
    return (await Promise.allSettled(updates)).map((update) => {
      if (update.status === 'rejected') throw update.reason;
      return update.value;
    });
  }
}

/** Closes the logs after the work, well or badly; where both fail, the work's failure is the one to tell. */
async function closing(sinks: Sinks, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    await sinks.close().catch(() => undefined);
    throw error;
  }
  await sinks.close();
}
