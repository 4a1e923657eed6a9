import {
  type Agent,
  type AgentId,
  type AgentInput,
  type AgentOutput,
  checkOptions,
  fail,
  type Game,
  type Generator,
  type GeneratorState,
  generatorFrom,
  type Metrics,
  ndarray,
  type SavedState,
  show,
} from '@coplay/core';
import { checkArgument, functions, typedArrays } from '@coplay/core/checks';
import { z } from 'zod';
import { isLearning, type LearningAgent } from '../training';
import { type Annealed, anneal, annealedUnit } from '../training/annealed';
import type { Exploration, Explorers, ExplorersOf } from './exploration';
import type { ExplorationGoals, ExplorerView } from './goals';
import { gridGoals } from './grid-goals';

/** Options of {@link sharedGoals}. */
export interface SharedGoalsOptions {
  /** Share of the episodes in which agents explore, in [0, 1]. Default `{ from: 1, to: 0, by: 0.3 }` */
  readonly share?: Annealed;
  /** Number of agents that share a goal in such an episode; at least 1. Default 2 */
  readonly group?: number;
  /** Steps that each explorer acts at the goal before the group draws its next goal; at least 1. Default 5 */
  readonly stay?: number;
  /** Steps at the goal after which an explorer no longer waits for its partners: the group draws anew. Default 12 */
  readonly patience?: number;
  /** Agents that may explore. Default: all agents of the run that learn */
  readonly ids?: readonly AgentId[];
  /** The goals, or a function that returns the goals of the run's game. Default `gridGoals` */
  readonly goals?: ExplorationGoals | ((game: Game) => ExplorationGoals);
}

const goalsSchema = z.looseObject({
  count: z.int().min(1),
  isOpen: functions().optional(),
  isReached: functions(),
  actions: functions(),
});

const schema = z.strictObject({
  share: annealedUnit.default({ from: 1, to: 0, by: 0.3 }),
  group: z.int().min(1).default(2),
  stay: z.int().min(1).default(5),
  patience: z.int().min(1).default(12),
  ids: z.array(z.string()).min(1).optional(),
  goals: z.union([functions(), goalsSchema], { error: 'goals, or a function of a game such as gridGoals' }).optional(),
});

type Settings = Required<Omit<SharedGoalsOptions, 'ids' | 'goals'>> & Pick<SharedGoalsOptions, 'ids' | 'goals'>;

/**
 * Directed exploration by goals that agents share (in the spirit of CMAE; Liu et al. 2021). In a share of the episodes,
 * `group` agents explore: they draw one goal, all open goals equally likely, go there, act there, and draw the next
 * goal when each has acted there for `stay` steps. So several agents are often at one place and act at random at the
 * same time, which independent exploration hardly ever reaches. The other agents act by their policies.
 *
 * The learner receives the log-probability with which the explorer drew its action, given the goal: the ratio of PPO
 * compares the policy with the behaviour that acted.
 *
 * @throws CoplayError for unknown options
 */
export function sharedGoals(options: SharedGoalsOptions = {}): Exploration {
  const settings = checkOptions('sharedGoals', schema, options) as Settings;
  const { share, group, stay, patience, ids } = settings;
  return {
    config: { name: 'sharedGoals', share, group, stay, patience, ...(ids && { ids }) },
    start: (run) => new GoalExplorers(settings, run),
  };
}

/** The goal of a group before it has drawn one. */
const NONE = -1;
/** In the place of an action: the agent acts by its own policy. */
const OWN = -1;

const savedSchema = z.looseObject({
  isExplorer: typedArrays('uint8'),
  goals: typedArrays('int32'),
  acted: typedArrays('int32'),
  generator: z.array(z.int().min(0)).length(4),
});

class GoalExplorers implements Explorers {
  readonly agents: readonly Agent[];
  private readonly goalSet: ExplorationGoals;
  /** Who may explore. */
  private readonly seats: readonly number[];
  private generator: Generator;
  private share: number;
  /** [E, A] 1 for the explorers of the present episode */
  private isExplorer: Uint8Array;
  /** [E] the goal that they share; NONE before it is drawn */
  private goals: Int32Array;
  /** [E, A] steps that each has acted at the goal; `stay` for an explorer that has left the game */
  private acted: Int32Array;
  /** Of the present rollout, for metrics. */
  private rows = { active: 0, explored: 0 };

  constructor(
    private readonly settings: Settings,
    private readonly run: ExplorersOf,
  ) {
    const { game, agents, envs, generator } = run;
    const { goals = gridGoals } = settings;
    this.seats = explorerIds(settings, run).map((id) => game.agents.indexOf(id));
    this.goalSet = typeof goals === 'function' ? goals(game) : goals;
    checkArgument('sharedGoals: goals(game)', 'goals', goalsSchema, this.goalSet);
    this.generator = generator;
    this.share = anneal(settings.share, 0);
    this.isExplorer = new Uint8Array(envs * agents.length);
    this.goals = new Int32Array(envs).fill(NONE);
    this.acted = new Int32Array(envs * agents.length);
    this.agents = agents.map((agent, seat) => this.exploring(agent, seat));
  }

  setProgress(progress: number): void {
    this.share = anneal(this.settings.share, progress);
  }

  metrics(): Metrics {
    const { active, explored } = this.rows;
    this.rows = { active: 0, explored: 0 };
    return {
      'exploration/episode_share': this.share,
      ...(active > 0 && { 'exploration/step_share': explored / active }),
    };
  }

  state(): SavedState {
    return {
      isExplorer: this.isExplorer.slice(),
      goals: this.goals.slice(),
      acted: this.acted.slice(),
      generator: [...this.generator.state()],
    };
  }

  restore(saved: SavedState): void {
    const where = 'sharedGoals: restore';
    checkArgument(where, 'saved', savedSchema, saved);
    const { isExplorer, goals, acted, generator } = saved as Readonly<Record<string, unknown>>;
    this.checkSaved(where, isExplorer as Uint8Array, goals as Int32Array, acted as Int32Array);
    this.generator = generatorFrom(generator as unknown as GeneratorState);
    this.isExplorer = (isExplorer as Uint8Array).slice();
    this.goals = (goals as Int32Array).slice();
    this.acted = (acted as Int32Array).slice();
  }

  /** The agent, whose actions are replaced where it explores. */
  private exploring(agent: Agent, seat: number): Agent {
    const { observe } = agent;
    return {
      id: agent.id,
      name: agent.name,
      initialState: (rows) => agent.initialState(rows),
      // The choices come before the first await: a rollout asks the seats in order, so the draws have an order.
      act: async (input, state, generator) => {
        const choices = this.choose(seat, input);
        const output = await agent.act(input, state, generator);
        return this.seats.includes(seat) ? replaced(agent as LearningAgent, output, choices) : output;
      },
      ...(observe && { observe: observe.bind(agent) }),
    };
  }

  /** What an agent does in the present step of all environments. */
  private choose(seat: number, input: AgentInput): Choices {
    if (seat === 0) this.beginStep(input.isFirst);
    const { rows, observations, masks } = input;
    const { agents, actions: K } = this.run.game;
    const choices: Choices = { actions: new Int32Array(rows).fill(OWN), logProbs: new Float32Array(rows) };
    for (let row = 0; row < rows; row++) {
      const at = row * agents.length + seat;
      const isHere = input.active[row] === 1;
      if (isHere && this.seats.includes(seat)) this.rows.active++;
      if (this.isExplorer[at] === 0) continue;
      if (!isHere) {
        this.acted[at] = this.settings.stay; // its partners don't wait for it
        continue;
      }
      const view = { seat, observations, row, mask: masks.subarray(row * K, (row + 1) * K) };
      if (this.goals[row] === NONE) this.goals[row] = this.drawGoal(view);
      if (this.goals[row] === NONE) continue;
      if (this.goalSet.isReached(this.goals[row], view)) this.acted[at]++;
      const legal = legalActions(this.goalSet, this.goals[row], view);
      if (legal.length === 0) continue;
      choices.actions[row] = legal[this.generator.integer(legal.length)];
      choices.logProbs[row] = -Math.log(legal.length);
      this.rows.explored++;
    }
    return choices;
  }

  /** Draws the explorers of episodes that begin, and gives up goals at which the explorers are done. */
  private beginStep(isFirst: Uint8Array): void {
    const A = this.run.agents.length;
    for (let env = 0; env < isFirst.length; env++) {
      if (isFirst[env] === 1) this.drawExplorers(env);
      else if (!this.isDone(env)) continue;
      this.goals[env] = NONE;
      this.acted.fill(0, env * A, (env + 1) * A);
    }
  }

  private drawExplorers(env: number): void {
    const A = this.run.agents.length;
    this.isExplorer.fill(0, env * A, (env + 1) * A);
    if (this.generator.uniform() >= this.share) return;
    const others = [...this.seats];
    for (let i = 0; i < this.settings.group; i++) {
      const [seat] = others.splice(this.generator.integer(others.length), 1);
      this.isExplorer[env * A + seat] = 1;
    }
  }

  /** Whether all explorers have acted at the goal for long enough, or one has waited for too long. */
  private isDone(env: number): boolean {
    if (this.goals[env] === NONE) return false;
    const { stay, patience } = this.settings;
    const A = this.run.agents.length;
    const steps = Array.from(this.acted.subarray(env * A, (env + 1) * A));
    const ofExplorers = steps.filter((_, seat) => this.isExplorer[env * A + seat] === 1);
    return (
      ofExplorers.every((acted) => acted >= stay) || ofExplorers.some((acted) => acted >= Math.max(patience, stay))
    );
  }

  private drawGoal(view: ExplorerView): number {
    const left = Array.from({ length: this.goalSet.count }, (_, goal) => goal);
    while (left.length > 0) {
      const [goal] = left.splice(this.generator.integer(left.length), 1);
      if (this.goalSet.isOpen?.(goal, view) ?? true) return goal;
    }
    return NONE;
  }

  private checkSaved(where: string, isExplorer: Uint8Array, goals: Int32Array, acted: Int32Array): void {
    const { envs, agents } = this.run;
    const rows = envs * agents.length;
    const remedy = 'Make the run with the options that it was saved with.';
    if (isExplorer.length !== rows || acted.length !== rows || goals.length !== envs) {
      const got = `${goals.length} goals and ${isExplorer.length} explorers`;
      fail(where, `${envs} goals and ${rows} explorers`, got, remedy);
    }
    const bad = goals.find((goal) => goal < NONE || goal >= this.goalSet.count);
    if (bad !== undefined) fail(where, `goals below ${this.goalSet.count}`, String(bad), remedy);
  }
}

/** The different legal actions that lead on; the walker is another's code. */
function legalActions(goals: ExplorationGoals, goal: number, view: ExplorerView): number[] {
  const given: unknown = goals.actions(goal, view);
  const K = view.mask.length;
  const isAction = (value: unknown) => Number.isInteger(value) && (value as number) >= 0 && (value as number) < K;
  if (!Array.isArray(given) || !given.every(isAction)) {
    const remedy = 'Return [] where the agent shall act by its own policy.';
    fail(`sharedGoals: goals.actions(${goal})`, `a list of actions from 0 to ${K - 1}`, show(given), remedy);
  }
  return [...new Set(given as readonly number[])].filter((action) => view.mask[action] === 1);
}

/** By row, the action that an explorer takes, or OWN, and the log-probability with which it was drawn. */
interface Choices {
  readonly actions: Int32Array;
  readonly logProbs: Float32Array;
}

/** An agent's answer in which the actions of explorers, and their log-probabilities, replace its own. */
function replaced(agent: LearningAgent, output: AgentOutput, choices: Choices): AgentOutput {
  const isOwn = (row: number) => choices.actions[row] === OWN;
  const actions = output.actions.map((own, row) => (isOwn(row) ? own : choices.actions[row]));
  const explored = ndarray(Uint8Array.from(choices.actions, (_, row) => (isOwn(row) ? 0 : 1)));
  if (agent.learner.offPolicy === 'any') return { ...output, actions, extras: { ...output.extras, explored } };
  const own = output.extras?.['logProbs'];
  if (own === undefined) {
    const remedy = "Record the log-probability of each action, or declare offPolicy: 'any' in its learner.";
    return fail(`${agent.name} (${agent.id}).act`, "the extra logProbs, for offPolicy: 'log-probs'", 'none', remedy);
  }
  const logProbs = Float32Array.from(own.data, (value, row) => (isOwn(row) ? value : choices.logProbs[row]));
  return { ...output, actions, extras: { ...output.extras, explored, logProbs: ndarray(logProbs, own.shape) } };
}

/** The agents that may explore. */
function explorerIds({ ids, group }: Settings, { agents, game }: ExplorersOf): readonly AgentId[] {
  const where = 'selfPlay: exploration sharedGoals';
  const learning = agents.filter(isLearning);
  const chosen = ids ?? learning.map(({ id }) => id);
  const stranger = chosen.find((id) => !learning.some((agent) => agent.id === id));
  if (stranger !== undefined || new Set(chosen).size < chosen.length) {
    const expected = `different ids of agents that learn: ${learning.map(({ id }) => id).join(', ') || '(none)'}`;
    fail(`${where}, option ids`, expected, show(chosen), 'Agents that do not learn need no exploration.');
  }
  for (const { id, learner, name } of learning) {
    if (!chosen.includes(id) || learner.offPolicy !== undefined) continue;
    const remedy = 'Leave it out by the option ids, or declare offPolicy in its learner (Learner in @coplay/trainers).';
    fail(where, 'learners that can learn from actions of others', `${name} (${id}), which is on-policy`, remedy);
  }
  if (chosen.length < group) {
    const got = `${chosen.length} of ${game.agents.length} agents`;
    fail(`${where}, option group`, `at least ${group} agents that may explore`, got, 'Give a smaller group.');
  }
  return chosen;
}
