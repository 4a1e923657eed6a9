import {
  type AgentId,
  type AgentStep,
  type ArrayOf,
  allocate,
  checkGame,
  checkOptions,
  type DType,
  fail,
  type Game,
  type GoalSet,
  type SavedState,
  show,
} from '@coplay/core';
import {
  checkArgument,
  checkNumber,
  checkNumbers,
  type NumbersRange,
  restoreParts,
  typedArrays,
} from '@coplay/core/checks';
import { z } from 'zod';
import { countMemory } from './count-memory';
import { goalMemory } from './goal-counts';
import { applyBayes, openGoals } from './intra';
import { checkMemory, checkPrior, type GoalMemory, goalsReached, uniformMemory } from './memory';

/** Options of {@link createBeliefs}. */
export interface BeliefOptions {
  /** With goals. */
  readonly game: Game;
  /** Who believes. */
  readonly id: AgentId;
  /** Whether beliefs follow what co-players do within an episode (intra-OM). Default true */
  readonly intra?: boolean | undefined;
  /**
   * The memory of a co-player between episodes (inter-OM), which gives the prior of the belief: `false` for equally
   * likely goals, or a function that makes a memory of your own, called once for each co-player. Default:
   * `countMemory` where the game's goals have a `noGoal`, else `goalMemory`
   */
  readonly inter?: false | ((coPlayer: AgentId) => GoalMemory) | undefined;
  /**
   * Whether games that are played at once share the memory of a co-player: the same agent in all of them (`shared`); or
   * whether each has its own, since others play there under the same id (`perGame`). Default `shared`
   */
  readonly memories?: 'shared' | 'perGame' | undefined;
}

/** One agent's beliefs about each co-player's goal, in B games at once. */
export interface GoalBeliefs {
  readonly id: AgentId;
  readonly coPlayers: readonly AgentId[];
  /** G */
  readonly goals: number;
  /**
   * The beliefs in a step that is about to be played. Where an episode begins, and for a co-player that has just
   * reached a goal, the prior (inter-OM); else the previous beliefs, updated by Bayes' rule for the previous action
   * (intra-OM).
   *
   * @param states       [B, S]
   * @param isFirst      [B] 1 in the first step of an episode
   * @param likelihoods  [B, A, G] Pr(a | s, g) of the step before, see `goalLikelihoods`; rows of the agent itself, of
   *                     agents that left, and of first steps don't matter. Default: uniform
   * @returns [B, A, G]; each row sums to 1, or is all 0 for the agent itself and where no goal is open. The memory is
   *          used again: copy the parts that you keep
   */
  see(states: ArrayOf<DType>, isFirst: Uint8Array, likelihoods?: Float64Array): Float64Array;
  /** The events of the last step, as `Agent.observe` receives them: which goals were reached, which episodes ended. */
  observe(step: AgentStep): void;
  /**
   * [G] the belief about a co-player's goal at the start of an episode in which every goal is open.
   *
   * @param row  the game, where each has a memory of its own. Default 0
   */
  prior(coPlayer: AgentId, row?: number): Float64Array;
  /** Everything, beliefs within episodes too. */
  save(): SavedState;
  restore(saved: SavedState): void;
}

const schema = z
  .object({
    game: z.custom<Game>(),
    id: z.string(),
    intra: z.boolean().default(true),
    inter: z
      .union([
        z.literal(false),
        z.custom<(coPlayer: AgentId) => GoalMemory>((x) => typeof x === 'function', {
          error: 'a function that makes one',
        }),
      ])
      .optional(),
    memories: z.enum(['shared', 'perGame']).default('shared'),
  })
  .strict();

/**
 * Makes the beliefs of one agent.
 *
 * @param where  name of the option `inter`, for messages. Default: `createBeliefs: option inter`
 * @throws CoplayError for unknown options, a game without goals or without that agent, goals that read states where
 *         agents don't see them, a class instead of a function, and a memory whose prior isn't a distribution over the
 *         game's goals
 */
export function createBeliefs(options: BeliefOptions, where = 'createBeliefs: option inter'): GoalBeliefs {
  const { game, id, intra, inter, memories } = checkOptions('createBeliefs', schema, options);
  checkGame('createBeliefs: option game', game);
  if (!game.agents.includes(id)) {
    fail('createBeliefs: option id', `one of ${game.agents.join(', ')}`, show(id), 'Name an agent of the game.');
  }
  const set = goalSetOf(game);
  const goals = set.names.length;
  const { noGoal } = set;
  if (inter && isClass(inter)) {
    const remedy = 'Give a function that makes one: (coPlayer) => new MyMemory(coPlayer).';
    fail(
      where,
      'a function that makes the memory of a co-player',
      `the class ${inter.name || 'without a name'}`,
      remedy,
    );
  }
  const byGame = () => (noGoal === undefined ? goalMemory(goals) : countMemory({ goals, noGoal }));
  const memory = inter === false ? () => uniformMemory(goals) : (inter ?? byGame);
  const make = () => game.agents.map((other) => (other === id ? uniformMemory(goals) : memory(other)));
  const first = make();
  game.agents.forEach((other, seat) => {
    if (other !== id) checkMemory(where, other, first[seat], set);
  });
  return new Beliefs(game, id, set, intra, first, memories === 'perGame' ? make : undefined);
}

/** The goals of a game, if its agents can recognise them. */
function goalSetOf({ goals, name, observesState }: Game): GoalSet {
  const page = 'See "Goals" in docs/writing-an-environment.md.';
  if (!goals) fail('createBeliefs', 'a game with goals', name, `Give the game goals. ${page}`);
  if (!goals.readsStates || observesState) return goals;
  const expected = 'a game with observesState, since its goals read states';
  const remedy = `Declare observesState if each agent sees all of the state. ${page}`;
  return fail('createBeliefs: option game', expected, `${name} without it`, remedy);
}

/** Whether a function can only be called with `new`. */
function isClass(inter: (coPlayer: AgentId) => GoalMemory): boolean {
  return /^class\b/.test(Function.prototype.toString.call(inter));
}

/** Arrays of B games, of which a checkpoint holds all. */
interface Rows {
  readonly rows: number;
  /** [B, A, G] */
  readonly beliefs: Float64Array;
  /** [B, A] the goal reached last in this episode, or -1; and how many were */
  readonly last: Int32Array;
  readonly reached: Int32Array;
  /** [B, A] 1 where the belief begins anew at the next step */
  readonly isNew: Uint8Array;
  /** [B, S] the states seen last */
  readonly states: ArrayOf<DType>;
}

class Beliefs implements GoalBeliefs {
  readonly coPlayers: readonly AgentId[];
  /** G */
  readonly goals: number;
  private table: Rows;
  /** By game, or one for all games; by seat, of which the own one is never used. */
  private memories: readonly (readonly GoalMemory[])[];

  constructor(
    private readonly game: Game,
    readonly id: AgentId,
    private readonly goalSet: GoalSet,
    private readonly intra: boolean,
    first: readonly GoalMemory[],
    /** Makes the memories of another game; undefined where all games share the first. */
    private readonly make: (() => readonly GoalMemory[]) | undefined,
  ) {
    this.memories = [first];
    this.coPlayers = game.agents.filter((other) => other !== id);
    this.goals = goalSet.names.length;
    this.table = allocateTable(game, 0, this.goals);
  }

  see(states: ArrayOf<DType>, isFirst: Uint8Array, likelihoods?: Float64Array): Float64Array {
    const { game, goals } = this;
    checkArgument('beliefs.see', 'states', typedArrays(game.stateType), states);
    checkArgument('beliefs.see', 'isFirst', typedArrays('uint8'), isFirst);
    if (likelihoods !== undefined) checkNumbers('beliefs.see', 'likelihoods', likelihoods, { nan: true });
    const A = game.agents.length;
    const rows = isFirst.length;
    if (states.length !== rows * game.stateSize) {
      const expected = `${rows} states of ${game.stateSize} numbers`;
      fail('beliefs.see: states', expected, `${states.length} numbers`, 'Give the states of every row.');
    }
    if (likelihoods && likelihoods.length !== rows * A * goals) {
      const expected = `${rows * A * goals} numbers [${rows}, ${A}, ${goals}]`;
      fail('beliefs.see: likelihoods', expected, show(likelihoods), 'Give G for each agent of each row.');
    }
    if (this.table.rows !== rows) this.begin(rows);
    const { beliefs, isNew } = this.table;
    this.table.states.set(states as Float32Array);
    const open = openGoals(game, states, rows);
    for (let row = 0; row < rows; row++) {
      for (let seat = 0; seat < A; seat++) {
        if (game.agents[seat] === this.id) continue;
        const at = row * A + seat;
        if (isFirst[row] === 1) this.forgetEpisode(at);
        if (isNew[at] === 1) this.beginAnew(at, open, row * goals);
        else this.update(at, open, row * goals, likelihoods);
      }
    }
    return beliefs;
  }

  observe(step: AgentStep): void {
    const { game } = this;
    const { last, reached, isNew, states, rows } = this.table;
    if (step.rows !== rows) {
      fail(
        'beliefs.observe',
        `a step of ${rows} rows, as seen before it`,
        String(step.rows),
        'Call see before each step.',
      );
    }
    const A = game.agents.length;
    const shown = goalsReached(game, states, step);
    for (let at = 0; at < rows * A; at++) {
      if (shown[at] >= 0) {
        last[at] = shown[at];
        reached[at]++;
        isNew[at] = 1;
      }
      const row = Math.floor(at / A);
      if (step.ended[row] === 1) this.memoriesIn(row)[at % A].add(last[at], reached[at]);
    }
  }

  prior(coPlayer: AgentId, row = 0): Float64Array {
    const seat = this.game.agents.indexOf(coPlayer);
    const known = this.coPlayers.join(', ');
    if (!this.coPlayers.includes(coPlayer))
      fail('beliefs.prior', `one of ${known}`, show(coPlayer), 'Name a co-player.');
    if (this.make)
      checkNumber('beliefs.prior', 'row', row, { min: 0, max: Math.max(0, this.table.rows - 1), whole: true });
    return this.priorOf('beliefs.prior', row, seat, 0, new Uint8Array(this.goals).fill(1), 0);
  }

  save(): SavedState {
    const { rows, ...arrays } = this.table;
    const copies = Object.entries(arrays).map(([name, array]) => [name, array.slice()] as const);
    return { rows, ...Object.fromEntries(copies), memories: this.memories.flat().map((memory) => memory.state()) };
  }

  restore(saved: SavedState): void {
    const A = this.game.agents.length;
    const games = this.make ? Math.max(1, Number(saved?.['rows'])) : 1;
    checkArgument('beliefs.restore', 'saved', savedSchema(this.game, games * A), saved);
    const { memories, ...table } = saved as unknown as Rows & { readonly memories: readonly SavedState[] };
    checkTable(table, this.game, this.goals);
    const own = this.make ? Array.from({ length: games }, this.make) : this.memories;
    const parts = memories.map((memory, at) => {
      return { path: `saved.memories[${at}]`, part: own[Math.floor(at / A)][at % A], saved: memory };
    });
    restoreParts('beliefs.restore', parts);
    this.memories = own;
    this.table = copyTable(table); // only now that all of it fits
  }

  /** Another number of games: all of them begin, with memories of their own if each has some. */
  private begin(rows: number): void {
    const { make } = this;
    this.table = allocateTable(this.game, rows, this.goals);
    if (make) this.memories = Array.from({ length: Math.max(1, rows) }, make);
  }

  private memoriesIn(row: number): readonly GoalMemory[] {
    return this.memories[this.make ? row : 0];
  }

  private forgetEpisode(at: number): void {
    this.table.last[at] = -1;
    this.table.reached[at] = 0;
    this.table.isNew[at] = 1;
  }

  /** The belief of a new episode, or after a goal was reached: the prior of the co-player's memory (inter-OM). */
  private beginAnew(at: number, open: Uint8Array, openFrom: number): void {
    const { beliefs, reached, isNew } = this.table;
    const A = this.game.agents.length;
    const prior = this.priorOf('beliefs.see', Math.floor(at / A), at % A, reached[at], open, openFrom);
    beliefs.set(prior, at * this.goals);
    isNew[at] = 0;
  }

  private priorOf(
    where: string,
    row: number,
    seat: number,
    reached: number,
    open: Uint8Array,
    openFrom: number,
  ): Float64Array {
    const prior = this.memoriesIn(row)[seat].prior(reached, open, openFrom);
    checkPrior(`${where}: the memory of ${this.game.agents[seat]}`, prior, this.goalSet, open, openFrom);
    return prior;
  }

  /** The belief in the next step of an episode: Bayes' rule (intra-OM). */
  private update(at: number, open: Uint8Array, openFrom: number, likelihoods: Float64Array | undefined): void {
    const { goals } = this;
    const own = this.table.beliefs.subarray(at * goals, (at + 1) * goals);
    const isKnown = this.intra && likelihoods !== undefined;
    const chances = isKnown ? likelihoods.subarray(at * goals, (at + 1) * goals) : new Float64Array(goals).fill(1);
    const ownOpen = open.subarray(openFrom, openFrom + goals);
    if (isKnown) this.checkLikelihoods(at, chances, ownOpen);
    applyBayes(own, chances, ownOpen, goals, own);
  }

  /** Likelihoods of agents that left, and of goals that aren't open, don't matter. */
  private checkLikelihoods(at: number, likelihoods: Float64Array, open: Uint8Array): void {
    const { game, goalSet, table } = this;
    const [row, seat] = [Math.floor(at / game.agents.length), at % game.agents.length];
    const wrong = likelihoods.findIndex((p, goal) => open[goal] === 1 && !(p >= 0 && p < Number.POSITIVE_INFINITY));
    if (wrong < 0 || !game.isActive(table.states, row * game.stateSize, seat)) return;
    const expected = `a number, at least 0, for ${game.agents[seat]} and goal ${show(goalSet.names[wrong])} in row ${row}`;
    fail('beliefs.see: likelihoods', expected, String(likelihoods[wrong]), 'Look at the model of the co-player.');
  }
}

function savedSchema(game: Game, memories: number) {
  return z.looseObject({
    rows: z.int().min(0),
    beliefs: typedArrays('float64'),
    last: typedArrays('int32'),
    reached: typedArrays('int32'),
    isNew: typedArrays('uint8'),
    states: typedArrays(game.stateType),
    memories: z.array(z.looseObject({})).length(memories),
  });
}

/** Refuses a table whose arrays have other lengths than its rows say, or numbers that no table has. */
function checkTable(table: Rows, game: Game, goals: number): void {
  const seats = table.rows * game.agents.length;
  const check = (name: keyof Rows, range: NumbersRange) => {
    checkNumbers('beliefs.restore', `saved.${name}`, table[name], range);
  };
  check('beliefs', { length: seats * goals, min: 0, max: 1 });
  check('last', { length: seats, min: -1, max: goals - 1 });
  check('reached', { length: seats, min: 0 });
  check('isNew', { length: seats, max: 1 });
  check('states', { length: table.rows * game.stateSize, nan: true });
}

function allocateTable(game: Game, rows: number, goals: number): Rows {
  const seats = rows * game.agents.length;
  return {
    rows,
    beliefs: new Float64Array(seats * goals),
    last: new Int32Array(seats).fill(-1),
    reached: new Int32Array(seats),
    isNew: new Uint8Array(seats).fill(1),
    states: allocate(game.stateType, rows * game.stateSize) as ArrayOf<DType>,
  };
}

function copyTable({ rows, beliefs, last, reached, isNew, states }: Rows): Rows {
  return {
    rows,
    beliefs: beliefs.slice(),
    last: last.slice(),
    reached: reached.slice(),
    isNew: isNew.slice(),
    states: states.slice() as ArrayOf<DType>,
  };
}
