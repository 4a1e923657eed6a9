import { saveNpz } from '@coplay/buffers/npz';
import { type ActionSpaces, type Agent, CoplayError, fail, type Saved, type SavedState } from '@coplay/core';
import { ofPart } from '@coplay/core/checks';
import { fileName, type Lock, lockDirectory } from '@coplay/core/node';
import { executorInfo } from '@coplay/tensor';
import { checkThreadChoices, restoreThreadChoices, threadChoices, threadInfo } from '@coplay/tensor/threads';
import {
  createRunDirectory,
  describeCheckpoint,
  latestCheckpoint,
  resumeFits,
  runtimeVersions,
  saveCheckpoint,
} from '../checkpoint';
import { checkpointMarks, readRunConfig } from '../checkpoint/run-directory';
import { type Learner, NonFiniteError } from '../training';
import type { ResolvedSelfPlay } from './options';

/** The saved object: the run itself. */
interface Saveable {
  readonly envSteps: number;
  readonly updates: number;
  state(): Promise<SavedState>;
}

/** The directory of a run, if it keeps one. */
export class RunFiles {
  /** The resolved configuration, as JSON. */
  readonly config: Readonly<Record<string, unknown>>;
  /** By id, the options of agents that name them: with these, `loadRun` makes rules again. */
  private readonly agentOptions: Readonly<Record<string, unknown>>;
  private savedAt = -1;
  /** The checkpoints that this run wrote or found when it resumed; absent before it has used the directory. */
  private known: ReadonlySet<string> | undefined;
  private lock: Lock | undefined;
  private holders = 0;

  constructor(
    private readonly options: ResolvedSelfPlay,
    agents: readonly Agent<Saved, ActionSpaces>[],
    learners: readonly Learner[],
    partners?: Readonly<Record<string, unknown>>,
  ) {
    const { game, envs, steps, seed, exploration, curriculum } = options;
    this.agentOptions = Object.fromEntries(agents.flatMap((one) => (one.options ? [[one.id, one.options]] : [])));
    this.config = {
      game: { name: game.name, options: game.options, agents: game.agents },
      envs,
      steps,
      seed,
      ...(exploration && { exploration: exploration.config }),
      ...(curriculum && { curriculum: { name: curriculum.game.name, options: curriculum.game.options } }),
      agents: Object.fromEntries(agents.map((agent) => [agent.id, agent.name])),
      learners: Object.fromEntries(learners.map((learner) => [learner.name, { ids: learner.ids, ...learner.config }])),
      ...(partners && { partners }), // left out without, so that runs begun before there were partners fit
    };
  }

  /** For {@link RunInfo}. */
  get place(): { directory?: string } {
    return this.options.directory === undefined ? {} : { directory: this.options.directory };
  }

  /** Takes the directory for this run, if there is one, until the returned function is called. Calls may overlap. */
  hold(): () => void {
    const { directory } = this.options;
    if (directory === undefined) return () => undefined;
    this.lock ??= lockDirectory('selfPlay', directory);
    this.holders++;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.holders--;
      if (this.holders > 0) return;
      this.lock?.release();
      this.lock = undefined;
    };
  }

  /**
   * Makes the directory, or finds it again as this run left it.
   *
   * @throws CoplayError if it holds another run, or another run has written there since
   */
  async open(): Promise<void> {
    const { directory } = this.options;
    if (directory === undefined) return;
    const { known } = this;
    if (known !== undefined) {
      await this.checkConfig(directory);
      const stranger = [...(await checkpointMarks(this.checkpoints()))].find((mark) => !known.has(mark));
      if (stranger !== undefined) {
        const remedy = 'Resume from it with a new run, or choose another directory.';
        fail('selfPlay', `${directory} as this run left it`, `a checkpoint of another run since: ${stranger}`, remedy);
      }
    }
    // The software on which the last bits of the run's results depend. A run may go on with another number of cores.
    const { reason } = await executorInfo();
    const compute = { executor: reason, ...(await threadInfo()) };
    const { agentOptions } = this;
    const config = { ...this.config, ...(Object.keys(agentOptions).length > 0 && { agentOptions }), compute };
    await createRunDirectory(directory, { config, versions: runtimeVersions(), resume: known !== undefined });
    this.known ??= new Set();
  }

  /**
   * Writes a checkpoint if one is due. Training goes on where that fails, with a warning; but not from the last one.
   */
  async save(run: Saveable, isLast: boolean): Promise<void> {
    const { directory, checkpointEvery } = this.options;
    if (directory === undefined || this.savedAt === run.envSteps) return;
    const isDue = checkpointEvery !== false && run.updates % checkpointEvery === 0;
    if (isLast) await this.write(run);
    else if (isDue) await this.write(run).catch((error: unknown) => this.warnOrThrow(error));
  }

  private warnOrThrow(error: unknown): void {
    if (!(error instanceof CoplayError)) throw error;
    this.options.warn(`Training goes on without this checkpoint. ${error.message}`);
  }

  /** Keeps the state of the best evaluation, in a folder of its own. Training goes on where that fails. */
  async keepBest(run: Saveable): Promise<void> {
    await this.writeInto(`${this.options.directory}/best`, run, 1).catch((error: unknown) => this.warnOrThrow(error));
  }

  private async writeInto(folder: string, run: Saveable, keep: number): Promise<string> {
    const { now, warn } = this.options;
    const savedAt = new Date(now()).toISOString();
    const about = { config: this.config, update: run.updates, savedAt, threads: threadChoices() };
    return saveCheckpoint(folder, run.envSteps, await run.state(), { keep, about, warn });
  }

  async write(run: Saveable): Promise<string> {
    const path = await this.writeInto(this.checkpoints(), run, this.options.keepCheckpoints);
    this.savedAt = run.envSteps;
    this.known = await checkpointMarks(this.checkpoints());
    return path;
  }

  /** Refuses the configuration of another run. */
  private async checkConfig(directory: string): Promise<void> {
    const config = await readRunConfig(directory);
    if (config === undefined) return;
    try {
      resumeFits(config, this.config);
    } catch (error) {
      throw ofPart(`${directory}/config.json`, error);
    }
  }

  /**
   * Restores the newest good checkpoint, which must be of a run like this; false if there is none. Compiled functions
   * get the threads that they had: with others, sums may be rounded otherwise.
   */
  async resume(restore: (saved: SavedState) => Promise<void>): Promise<boolean> {
    const { warn, now, directory = '' } = this.options;
    const known = await checkpointMarks(this.checkpoints());
    const { checkpoint, skipped } = await latestCheckpoint(this.checkpoints(), { warn });
    if (!checkpoint) {
      if (skipped.length === 0) {
        await this.checkConfig(directory);
        this.known = known; // also of a run that was killed before its first checkpoint
        return false;
      }
      const remedy = 'Mend it, or move the directory away to begin anew: a new run would replace these checkpoints.';
      fail('resume', `a checkpoint that can be read in ${this.checkpoints()}`, skipped[0].reason, remedy);
    }
    resumeFits(checkpoint.about, { config: this.config });
    const { threads } = checkpoint.about; // absent in checkpoints of earlier versions
    if (threads !== undefined) checkThreadChoices('resume: about.threads', threads);
    await restore(checkpoint.saved);
    if (threads !== undefined) restoreThreadChoices(threads);
    warn(`resumed ${describeCheckpoint(checkpoint, now())}`);
    this.savedAt = checkpoint.step;
    this.known = known;
    return true;
  }

  /** The present state is another one than the checkpoint of this step, if there is one. */
  forgetSaved(): void {
    this.savedAt = -1;
  }

  /**
   * Runs an update; if numbers blow up, the batch is saved in the folder of the checkpoints before the error is thrown
   * again.
   */
  async guard<T>(learner: Learner, update: () => T | Promise<T>): Promise<T> {
    try {
      return await update();
    } catch (error) {
      if (!(error instanceof NonFiniteError) || this.options.directory === undefined) throw error;
      const name = `non-finite-${fileName(learner.name)}-update-${learner.updates + 1}.npz`;
      const kept = await this.keep(`${this.options.directory}/${name}`, error.batch);
      const { complaint } = error;
      throw new CoplayError({ ...complaint, remedy: `${kept} ${complaint.remedy}` }, { cause: error });
    }
  }

  /** Saves a batch and says where it is. The error that it belongs to must be told also where it can't be saved. */
  private async keep(path: string, batch: NonFiniteError['batch']): Promise<string> {
    try {
      await saveNpz(path, batch);
      return `The batch is in ${path}.`;
    } catch (error) {
      return `The batch could not be saved (${error instanceof Error ? error.message : String(error)}).`;
    }
  }

  private checkpoints(): string {
    const { directory } = this.options;
    if (directory === undefined) {
      fail('selfPlay', 'a directory for checkpoints', 'none', "Give selfPlay the option directory: 'runs/NAME'.");
    }
    return `${directory}/checkpoints`;
  }
}
