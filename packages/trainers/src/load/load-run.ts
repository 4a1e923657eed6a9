import {
  type ActionSpaces,
  type Agent,
  type AgentId,
  type AnyGame,
  checkGame,
  checkOptions,
  createGenerator,
  type DType,
  fail,
  type Game,
  type Saved,
  type SavedState,
  show,
} from '@coplay/core';
import { checkAgent, checkText, functions, isPlainRecord, ofPart } from '@coplay/core/checks';
import { z } from 'zod';
import { type Checkpoint, loadCheckpoint, resumeFits } from '../checkpoint';
import { checkpointName } from '../checkpoint/names';
import { readRunConfig } from '../checkpoint/run-directory';
import { type HopAgent, planner } from '../hop';
import { memoryOneAgent } from '../lola';
import { isLearning, type Learner, type LearningAgent } from '../training';
import { differences } from '../training/differences';
import { type CodeOfRun, codeOf, remakes } from './packages';
import { isBundled, type OwnParts, rebuildAgents } from './rebuild';
import { companyOf, reseatState } from './reseat';

/** Makes agents of one's own for seats. */
export type OwnAgents<Spaces extends ActionSpaces = number> = (seats: {
  readonly game: Game<DType, Spaces>;
  /** Whose seats they are: all that share the learner, or one. An agent is expected for each. */
  readonly ids: readonly AgentId[];
  /** `learner.config`, as JSON, or `agent.options` of one that doesn't learn; empty where there was none. */
  readonly config: Readonly<Record<string, unknown>>;
}) => readonly Agent<Saved, Spaces>[] | Promise<readonly Agent<Saved, Spaces>[]>;

/** Options of {@link loadRun} and {@link loadAgents}. */
export interface LoadOptions<Spaces extends ActionSpaces = number> {
  /** The game, where it's one of your own; it must be the one of the run. Default: made as `config.json` says */
  readonly game?: Game<DType, Spaces>;
  /** Makers of agents of your own, by `agent.name`. Default: none */
  readonly agents?: Readonly<Record<string, OwnAgents<Spaces>>>;
  /**
   * Functions of your own that options of agents held, by the names that `config.json` has for them: networks
   * (`layersModel()`, `torsoBuilder()`), models of the world, rewards, memories of goals. Default: none
   */
  readonly parts?: OwnParts;
  /**
   * The seats to fill, each with an agent of the run: `{ agent_1: 'agent_0' }` is the agent of `agent_0` in the seat of
   * `agent_1`. One that moves takes its parameters along; beliefs, statistics of co-players and experience begin anew.
   * Default: all seats, as in the run
   */
  readonly seats?: Readonly<Record<AgentId, AgentId>>;
  /** Whether agents can go on learning, in another run. Otherwise they only play. Default false */
  readonly learn?: boolean;
  /** The step of the checkpoint, or `best` of a run with `keepBest`. Default: the newest good one */
  readonly step?: number | 'best';
  /**
   * Whether code of the run may be run: it can do anything. Code that you trained with on this machine always may.
   * Default false
   */
  readonly allowCode?: boolean;
  /** Receives warnings: a damaged checkpoint that was skipped. Default `console.warn` */
  readonly warn?: (line: string) => void;
}

/** A run that was loaded. */
export interface LoadedRun<Spaces extends ActionSpaces = number> {
  readonly game: Game<DType, Spaces>;
  /** In the order of the game's seats. */
  readonly agents: readonly Agent<Saved, Spaces>[];
  /** Its path, step and description. */
  readonly checkpoint: Omit<Checkpoint, 'saved'>;
  /** Frees the memory of the agents' networks. */
  dispose(): void;
}

const makers = z.record(z.string(), functions());
const schema = z.strictObject({
  game: z.unknown().optional(),
  agents: makers.default({}),
  parts: makers.default({}),
  seats: z.record(z.string(), z.string()).optional(),
  learn: z.boolean().default(false),
  step: z.union([z.int().min(0), z.literal('best')]).optional(),
  allowCode: z.boolean().default(false),
  warn: functions<(line: string) => void>().default(() => (line: string) => console.warn(line)),
});

/** What a run's config.json must have. */
export const configSchema = z.looseObject({
  game: z.looseObject({
    name: z.string(),
    options: z.record(z.string(), z.unknown()),
    agents: z.array(z.string()).min(1),
  }),
  agents: z.record(z.string(), z.string()),
  learners: z.record(z.string(), z.looseObject({ ids: z.array(z.string()) })),
  agentOptions: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
});

export type RunConfig = z.infer<typeof configSchema>;
export type Loading = z.infer<typeof schema> & Pick<LoadOptions<ActionSpaces>, 'game' | 'agents' | 'parts'>;
type AnyAgent = Agent<Saved, ActionSpaces>;

const WHERE = 'loadRun';

/**
 * The game and the trained agents of a run: of a script that gave `selfPlay` a `directory`, or of `coplay train`. The
 * agents play at once: `const { game, agents } = await loadRun('runs/a'); await evaluate(game, agents);`
 *
 * @param directory  of the run, with its `config.json`
 * @throws CoplayError for a directory without a run, a damaged checkpoint or one of another version, another game than
 *         the run's, a part of your own that isn't given by name, and code that isn't allowed. It names the fault
 */
export async function loadRun<Spaces extends ActionSpaces = number>(
  directory: string,
  options: LoadOptions<Spaces> = {},
): Promise<LoadedRun<Spaces>> {
  checkText(WHERE, 'directory', directory);
  const loading = checkOptions(WHERE, schema, options as object) as Loading;
  const config = await configOf(directory);
  const code = await codeFor(directory, loading);
  const where = `${WHERE}: ${directory}`;
  const game = await gameOf(where, config, loading, code);
  const { saved, ...checkpoint } = await checkpointOf(directory, config, loading);
  const fill = new SeatFiller({ where, config, loading, code, game, saved });
  const agents = await fill.seats();
  const run: LoadedRun<ActionSpaces> = { game, agents, checkpoint, dispose: () => fill.dispose() };
  return run as unknown as LoadedRun<Spaces>;
}

/**
 * The trained agents of a run, in the order of the game's seats: {@link loadRun} without the rest. Their networks stay
 * in memory until the process ends, or the learners of agents that learn are disposed of.
 */
export async function loadAgents<Spaces extends ActionSpaces = number>(
  directory: string,
  options: LoadOptions<Spaces> = {},
): Promise<readonly Agent<Saved, Spaces>[]> {
  return (await loadRun(directory, options)).agents;
}

/** The `config.json` of a run. */
export async function configOf(directory: string): Promise<RunConfig> {
  const config = await readRunConfig(directory);
  if (config === undefined) {
    const remedy = "Give the directory of a run: selfPlay's option directory, or --directory of `coplay train`.";
    fail(WHERE, `the config.json of a run in ${directory}`, 'none that can be read', remedy);
  }
  return checkOptions(`${directory}/config.json`, configSchema, config as object) as RunConfig;
}

/** The run's own code, where it has some and the caller gives nothing by name. */
function codeFor(directory: string, loading: Loading): Promise<CodeOfRun | undefined> | undefined {
  const { game, agents, parts, allowCode } = loading;
  const isGiven = game !== undefined || Object.keys({ ...agents, ...parts }).length > 0;
  return isGiven ? undefined : codeOf(directory, { allowCode });
}

/** The game of the run. One that is given or that code makes must be the same. */
export async function gameOf(
  where: string,
  { game: described }: RunConfig,
  { game: given }: Pick<Loading, 'game'>,
  code: CodeOfRun | undefined,
): Promise<AnyGame> {
  const game = (given as AnyGame | undefined) ?? code?.game ?? (await remade(where, described));
  checkGame(`${WHERE}: option game`, game, 'any');
  const { name, options, agents } = game;
  const present = JSON.parse(JSON.stringify({ name, options, agents })) as object;
  const [first] = differences(described, present);
  if (first === undefined) return game;
  const remedy = 'Give the game that the run was trained in; agents of another game or size have other networks.';
  const at = `game.${first.path}`;
  return fail(where, `${at} ${show(first.theirs)}`, show(first.ours), remedy);
}

async function remade(where: string, described: RunConfig['game']): Promise<AnyGame> {
  const { remakeGame } = await remakes(WHERE);
  try {
    return remakeGame(described);
  } catch (error) {
    const got = error instanceof Error ? error.message : String(error);
    return fail(
      where,
      `a game that its config.json describes in full`,
      `${described.name}: ${got}`,
      `Give it: { game: yourGame() }.`,
    );
  }
}

/** The checkpoint to load, which must be one of the run. */
export async function checkpointOf(
  directory: string,
  config: RunConfig,
  { step, warn }: Pick<Loading, 'step' | 'warn'>,
): Promise<Checkpoint> {
  const path =
    typeof step === 'number' ? `${directory}/checkpoints/${checkpointName(step)}` : newestIn(directory, step);
  const checkpoint = await loadCheckpoint(path, { warn });
  const { learners, agents, game } = config;
  try {
    resumeFits({ config: { learners, agents, game } }, { config: partsOf(checkpoint) });
  } catch (error) {
    throw ofPart(`${WHERE}: ${checkpoint.path}`, error);
  }
  return checkpoint;
}

function newestIn(directory: string, step: 'best' | undefined): string {
  return step === 'best' ? `${directory}/best` : directory;
}

/** The same parts of the configuration in a checkpoint. */
function partsOf({ about }: Checkpoint): Readonly<Record<string, unknown>> {
  const { learners, agents, game } = (about['config'] ?? {}) as Partial<RunConfig>;
  return { learners, agents, game };
}

/** What seats are filled from. */
interface Filling {
  /** For messages: `loadRun: runs/a`. */
  readonly where: string;
  readonly config: RunConfig;
  readonly loading: Pick<Loading, 'agents' | 'parts' | 'seats' | 'learn'>;
  readonly code: CodeOfRun | undefined;
  readonly game: AnyGame;
  readonly saved: SavedState;
  /** Adds to a learner's saved state what it lacks, from that of a new learner. Default: it lacks nothing */
  readonly complete?: (kept: SavedState, fresh: SavedState) => SavedState;
}

/** Agents that are made together: all that share a learner and keep their seats, or one that moves. */
interface Group {
  /** The learner's name; undefined for an agent that doesn't learn. */
  readonly learner: string | undefined;
  /** Of the run. */
  readonly source: AgentId;
  /** Seats to fill. */
  readonly ids: readonly AgentId[];
  /** Whether these are all agents of the learner, in their own seats. */
  readonly isWhole: boolean;
}

/** Makes agents anew and restores them. */
export class SeatFiller {
  private readonly learners = new Set<Learner>();

  constructor(private readonly run: Filling) {}

  /** The agents of all seats that are asked for, in the order of the game. */
  async seats(): Promise<AnyAgent[]> {
    const { game } = this.run;
    const made: AnyAgent[] = [];
    try {
      for (const group of this.groups()) made.push(...(await this.fill(group)));
      const filled = made.sort((a, b) => game.agents.indexOf(a.id) - game.agents.indexOf(b.id));
      return this.run.loading.learn ? filled : filled.map(freeze);
    } catch (error) {
      this.dispose();
      throw error;
    }
  }

  dispose(): void {
    for (const learner of this.learners) learner.dispose();
  }

  private groups(): Group[] {
    const { config, game, loading } = this.run;
    const seats = loading.seats ?? Object.fromEntries(game.agents.map((id) => [id, id]));
    for (const id of [...Object.keys(seats), ...Object.values(seats)]) {
      if (game.agents.includes(id)) continue;
      fail(`${WHERE}: option seats`, `ids of the run: ${game.agents.join(', ')}`, show(id), 'Name seats of its game.');
    }
    const learnerOf = (id: AgentId) => {
      return Object.keys(config.learners).find((name) => config.learners[name].ids.includes(id));
    };
    const groups: Group[] = [];
    const staying = new Set(game.agents.filter((id) => seats[id] === id));
    for (const id of game.agents) {
      const source = seats[id];
      if (source === undefined) continue;
      const learner = learnerOf(source);
      const all = learner === undefined ? [source] : config.learners[learner].ids;
      const ids = source === id ? all.filter((one) => staying.has(one)) : [id];
      if (source === id && groups.some((group) => group.ids.includes(id))) continue;
      groups.push({ learner, source, ids, isWhole: source === id && ids.length === all.length });
    }
    return groups;
  }

  private async fill(group: Group): Promise<readonly AnyAgent[]> {
    const agents = await this.make(group);
    for (const agent of agents) if (isLearning(agent)) this.learners.add(agent.learner);
    for (const learner of new Set(agents.filter(isLearning).map((agent) => agent.learner))) {
      await this.restore(learner, group);
    }
    if (group.isWhole) for (const agent of agents) this.restoreMemory(agent);
    return agents;
  }

  private async make(group: Group): Promise<readonly AnyAgent[]> {
    const { config, loading, code, game, where } = this.run;
    const { source, ids, learner } = group;
    const name = config.agents[source];
    const described = learner === undefined ? config.agentOptions[source] : config.learners[learner];
    const own = Object.hasOwn(loading.agents ?? {}, name) ? loading.agents![name] : undefined;
    if (own || code) {
      const made = own ? await own({ game, ids, config: described ?? {} }) : await code!.agents(source, ids);
      return checkMade(own ? `${WHERE}: option agents.${name}` : `${where}: its code`, made, ids);
    }
    if (learner === undefined) return [await this.makeRule(source, ids[0], name)];
    const { algorithm } = described;
    if (!isBundled(algorithm)) refuseClass(where, name, source);
    return rebuildAgents({ where, game, ids, parts: loading.parts ?? {} }, described);
  }

  private async makeRule(source: AgentId, id: AgentId, name: string): Promise<AnyAgent> {
    const { config, game, where } = this.run;
    const options = config.agentOptions[source];
    if (options === undefined) return refuseClass(where, name, source);
    if (name === 'memory-one') {
      const parameters = Float64Array.from(options['parameters'] as readonly number[]);
      return memoryOneAgent({ game: game as Game, id, parameters }) as unknown as AnyAgent;
    }
    const { remakeRule } = await remakes(WHERE);
    try {
      return remakeRule({ game, id, name, options });
    } catch {
      return refuseClass(where, name, source);
    }
  }

  private async restore(learner: Learner, group: Group): Promise<void> {
    const { saved, game, complete } = this.run;
    const name = group.learner!;
    const where = `${this.run.where}, learner ${name}`;
    const nameOf = companyOf(game.agents, group.source, group.ids.includes(group.source) ? group.source : group.ids[0]);
    this.checkSame(where, learner, name, nameOf);
    const kept = (saved['learners'] as SavedState | undefined)?.[name] as SavedState | undefined;
    if (!isPlainRecord(kept)) fail(where, 'its state in the checkpoint', 'none', 'Load another checkpoint.');
    try {
      if (group.isWhole && complete === undefined) return await learner.restore(kept);
      await learner.initialise(createGenerator(0));
      const fresh = await learner.state();
      const whole = complete === undefined ? kept : complete(kept, fresh);
      await learner.restore(group.isWhole ? whole : reseatState(whole, fresh, nameOf));
    } catch (error) {
      throw ofPart(where, error);
    }
  }

  /** Refuses a learner whose description is another than in the run: its parameters would have another meaning. */
  private checkSame(where: string, learner: Learner, name: string, nameOf: (id: string) => string): void {
    const { ids: _, ...theirs } = this.run.config.learners[name];
    const ours = renamed(JSON.parse(JSON.stringify(learner.config)), nameOf);
    const [first] = differences(theirs, ours).filter(({ path }) => path !== OBSERVER);
    if (first === undefined) return;
    const remedy = 'Give parts and agents that are made as in the run.';
    fail(where, `${first.path} ${show(first.theirs)}, as in config.json`, show(first.ours), remedy);
  }

  private restoreMemory(agent: AnyAgent): void {
    const { saved, config, where } = this.run;
    const all = saved['memories'] as Readonly<Record<string, SavedState>> | undefined;
    const kept = all !== undefined && Object.hasOwn(all, agent.id) ? all[agent.id] : undefined;
    // With partners, an agent's memory is kept next to theirs.
    const memory = config['partners'] === undefined ? kept : (kept?.['agent'] as SavedState | undefined);
    if (memory === undefined || !agent.restore) return;
    try {
      agent.restore(memory);
    } catch (error) {
      throw ofPart(`${where}, memory of ${agent.id}`, error);
    }
  }
}

/** The first observer of a shared learner, of which there may be another one among fewer seats. */
const OBSERVER = 'omg.id';

/** JSON with agents' ids replaced by others. */
function renamed(value: unknown, nameOf: (id: string) => string): unknown {
  if (typeof value === 'string') return nameOf(value);
  if (Array.isArray(value)) return value.map((one) => renamed(one, nameOf));
  if (!isPlainRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, renamed(one, nameOf)]));
}

function checkMade(where: string, made: unknown, ids: readonly AgentId[]): readonly AnyAgent[] {
  const expected = `an agent for each of ${ids.join(', ')}`;
  const remedy = 'Return a list: ids.map((id) => yourAgent({ game, id })).';
  if (!Array.isArray(made)) fail(where, expected, show(made), remedy);
  const agents = made as readonly AnyAgent[];
  for (const agent of agents) checkAgent(where, agent);
  const given = agents.map(({ id }) => id);
  if ([...given].sort().join() !== [...ids].sort().join()) fail(where, expected, given.join(', ') || 'none', remedy);
  return agents;
}

function refuseClass(where: string, name: string, id: AgentId): never {
  const remedy = `Give its maker by that name: { agents: { ${JSON.stringify(name)}: ({ game, ids }) => ... } }.`;
  fail(where, 'agents that config.json describes in full', `${name} of ${id}, which is one of your own`, remedy);
}

/** The agent without its learner: a run doesn't train it. HOP plays without the noise of its training. */
function freeze(agent: AnyAgent): AnyAgent {
  if (!isLearning(agent)) return agent;
  const { learner } = agent as LearningAgent;
  if (learner.config['algorithm'] === 'hop') return planner(agent as unknown as HopAgent) as unknown as AnyAgent;
  const { insight, observe, save, restore } = agent;
  return {
    id: agent.id,
    name: `${agent.name} (frozen)`,
    initialState: (rows) => agent.initialState(rows),
    act: (input, state, generator) => agent.act(input, state, generator),
    ...(insight && { insight: insight.bind(agent) }),
    ...(observe && { observe: observe.bind(agent) }),
    ...(save && { save: save.bind(agent) }),
    ...(restore && { restore: restore.bind(agent) }),
  };
}
