import {
  type Agent,
  type AgentId,
  type AgentStep,
  type ArrayOf,
  checkGame,
  checkOptions,
  type DType,
  fail,
  type Game,
  seatAgents,
  show,
  streamSeed,
} from '@coplay/core';
import { type Recording, recordEpisode } from '@coplay/envs';
import { z } from 'zod';
import { changedGame } from './changed-game';
import { type GoalWatcher, goalWatcher } from './goal-watcher';

/** The information that a person receives when it's their turn; the arrays are copies. */
export interface Turn {
  /** Steps done in this game. */
  readonly step: number;
  /** [stateSize] the state, for pictures. */
  readonly state: ArrayOf<DType>;
  /** [K] 1 where the person may take the action */
  readonly mask: Uint8Array;
  /** Whether the person still plays. If not, the answer doesn't matter, but the game waits for it. */
  readonly isActive: boolean;
  /** What everyone did in the step before, and what came of it; undefined in the first step. */
  readonly before: DoneStep | undefined;
  /** [A] sums of rewards so far */
  readonly returns: readonly number[];
  /**
   * [A, G] the beliefs of an observer in the person's seat about all agents' goals, from public information; 0 for the
   * person and for goals that can't be reached any more. Undefined for games whose goals it can't tell, see
   * {@link goalWatcher}.
   */
  readonly beliefs: Float64Array | undefined;
}

/** A step that was played; A agents in the order of the seats. */
export interface DoneStep {
  /** [A] null for who had left */
  readonly actions: readonly (number | null)[];
  /** [A] */
  readonly rewards: readonly number[];
  /** [A] true from the step on in which the agent left the game */
  readonly left: readonly boolean[];
}

/** Options of {@link createTable}. */
export interface TableOptions {
  /** The rules. */
  readonly game: Game;
  /** The person's seat, one of `game.agents`. */
  readonly person: AgentId;
  /** Who plays in every other seat. Their memory beyond a game (`save`) lasts as long as this table. */
  readonly others: readonly Agent[];
  /** Is asked in every step, also when the person has left: chooses an action, 0..K-1. A rejection ends the game. */
  readonly decide: (turn: Turn) => number | Promise<number>;
  /** The person's name in recordings. Default `Person` */
  readonly name?: string | undefined;
}

const schema = z.strictObject({
  game: z.custom<Game>(),
  person: z.string(),
  others: z.custom<readonly Agent[]>(Array.isArray, { error: 'a list of agents' }),
  decide: z.custom<TableOptions['decide']>((value) => typeof value === 'function', {
    error: 'a function that chooses an action',
  }),
  name: z.string().default('Person'),
});

/** How {@link Table.play} begins. */
export interface PlayOptions {
  /**
   * Of the game and of the other agents, an integer in [0, 2^53). The games are others than `recordEpisode` plays with
   * it. Default 0
   */
  readonly seed?: number | undefined;
  /** A map of the game to start from instead of a random state. */
  readonly layout?: unknown;
}

const playSchema = z.strictObject({
  seed: z.int().min(0).default(0),
  layout: z.unknown().optional(),
});

/** A game with a person in one of its seats. */
export interface Table {
  readonly game: Game;
  readonly person: AgentId;
  /**
   * Plays one game to its end.
   *
   * @returns the record, as `recordEpisode` makes it @throws the error of `decide`, or CoplayError for an action that
   * isn't legal; then no agent remembers anything of this game
   */
  play(options?: PlayOptions): Promise<Recording>;
}

/**
 * Seats a person among agents. No page is needed: `decide` may as well ask at a terminal.
 *
 * @throws CoplayError for unknown options, a seat that the game doesn't have, or unless there's exactly one agent for
 *         each other seat
 */
export function createTable(options: TableOptions): Table {
  const { game, person, others, decide, name } = checkOptions('createTable', schema, options);
  checkGame('createTable: option game', game);
  if (!game.agents.includes(person)) {
    fail('createTable: option person', `one of ${game.agents.join(', ')}`, show(person), 'Name a seat of the game.');
  }
  const free = game.agents.filter((id) => id !== person);
  const seated = seatAgents('createTable: option others', free, others);
  const watcher = goalWatcher(game, person);
  return {
    game,
    person,
    async play(start = {}) {
      const { seed, layout } = checkOptions('table.play', playSchema, start);
      const memories = seated.map((agent) => agent.save?.());
      const believed = watcher?.save();
      const seat = new PersonSeat(game, person, name, decide, watcher);
      try {
        return await recordEpisode(seat.watchedGame, [seat, ...seated.map(remembering)], {
          seed: streamSeed(seed, 'play'),
          layout,
        });
      } catch (error) {
        seated.forEach((agent, i) => {
          const memory = memories[i];
          if (memory) agent.restore?.(memory);
        });
        if (believed) watcher?.restore(believed);
        throw error;
      }
    },
  };
}

/** The same agent without `save` and `restore`: recordEpisode would undo what it has learned about the person. */
function remembering(agent: Agent): Agent {
  return {
    id: agent.id,
    name: agent.name,
    initialState: (rows) => agent.initialState(rows),
    act: (input, state, generator) => agent.act(input, state, generator),
    observe: (step) => agent.observe?.(step),
  };
}

/** The person as an agent, for one game. */
class PersonSeat implements Agent<null> {
  /** The game, which tells this seat where it stands. */
  readonly watchedGame: Game;
  private readonly returns: number[];
  private state: ArrayOf<DType> | undefined;
  private before: DoneStep | undefined;

  constructor(
    private readonly game: Game,
    readonly id: AgentId,
    readonly name: string,
    private readonly decide: TableOptions['decide'],
    private readonly watcher: GoalWatcher | undefined,
  ) {
    this.returns = game.agents.map(() => 0);
    const keep = (state: ArrayOf<DType>, offset: number) => {
      this.state = state.slice(offset, offset + game.stateSize) as ArrayOf<DType>;
    };
    this.watchedGame = changedGame(game, {
      reset(state, offset, generator) {
        game.reset(state, offset, generator);
        keep(state, offset);
      },
      step(state, offset, ...rest) {
        game.step(state, offset, ...rest);
        keep(state, offset);
      },
      ...(game.readLayout && {
        readLayout(layout, state, offset) {
          game.readLayout?.(layout, state, offset);
          keep(state, offset);
        },
      }),
    });
  }

  initialState(): null {
    return null;
  }

  async act({ masks, active }: Parameters<Agent['act']>[0]): Promise<{ actions: Int32Array; state: null }> {
    const { game, before } = this;
    const state = this.state!;
    const action = await this.decide({
      step: game.elapsed(state, 0),
      state,
      mask: masks.slice(),
      isActive: active[0] === 1,
      before,
      returns: [...this.returns],
      beliefs: this.watcher?.see(state, before === undefined),
    });
    checkAction(action, game);
    return { actions: Int32Array.of(action), state: null };
  }

  observe(step: AgentStep): void {
    const perAgent = <T>(entry: (seat: number) => T) => this.game.agents.map((_, seat) => entry(seat));
    this.before = {
      actions: perAgent((seat) => (step.active[seat] === 1 ? step.actions[seat] : null)),
      rewards: perAgent((seat) => step.rewards[seat]),
      left: perAgent((seat) => step.terminated[seat] === 1),
    };
    this.before.rewards.forEach((reward, seat) => {
      this.returns[seat] += reward;
    });
    this.watcher?.observe(step);
  }
}

/**
 * Int32Array would make a number of anything. An action that isn't legal at the moment is refused where it's played.
 */
function checkAction(action: unknown, { actions }: Game): void {
  if (Number.isInteger(action) && Math.abs(action as number) < 2 ** 31) return;
  fail('createTable: option decide', `an action, 0 to ${actions - 1}`, show(action), 'Look at turn.mask.');
}
