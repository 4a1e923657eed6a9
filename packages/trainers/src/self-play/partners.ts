import {
  type ActionSpaces,
  type Agent,
  type AgentId,
  type AgentInput,
  type AgentOutput,
  type AgentStep,
  type AnyGame,
  createGenerator,
  type Experience,
  fail,
  type Generator,
  ndarray,
  type Saved,
  type SavedState,
  show,
  streamSeed,
} from '@coplay/core';
import { copyRow } from '@coplay/core/arrays';
import { checkAgent, checkArgument, type PartToRestore, restoreParts } from '@coplay/core/checks';
import { z } from 'zod';
import { isLearning, type Learner } from '../training';
import { hidesLearner } from '../training/learner';

/**
 * A population of partners: agents that play in place of learning agents in some episodes, so that learners meet other
 * policies than their own.
 */
export interface PartnerOptions<Spaces extends ActionSpaces = number> {
  /**
   * Makes the partners of a seat, one of each kind: rules, past selves, your own agents that don't learn; at least one.
   * Called once for each seat with a learning agent. Each list has the same kinds in the same order
   */
  readonly of: (id: AgentId) => readonly Agent<Saved, Spaces>[];
  /** Probability, in [0, 1], that a partner plays a seat; drawn for each seat. Default 0.5 */
  readonly share?: number;
  /**
   * Whether the partners that play together in an environment are of one kind: the same place in each list. Otherwise
   * the kind is drawn for each seat. Default true
   */
  readonly together?: boolean;
  /** Episodes in an environment from one draw to the next, at least 1. Default 1 */
  readonly episodes?: number;
}

/** For the options of a run. */
export const partnersSchema = z.strictObject({
  of: z.custom<PartnerOptions<ActionSpaces>['of']>((value) => typeof value === 'function', {
    error: 'a function that makes the partners of a seat: (id) => [nearestStag({ game, id })]',
  }),
  share: z.number().min(0).max(1).default(0.5),
  together: z.boolean().default(true),
  episodes: z.int().min(1).default(1),
});

type AnyAgent = Agent<Saved, ActionSpaces>;

type ResolvedPartners = z.infer<typeof partnersSchema>;

/** Extra of an experience, uint8 [E, T, A]: 1 where a partner played in place of the learning agent. */
const PARTNER = 'partner';

/** The learner itself plays. */
const NOBODY = -1;

/** The partners of the seats with learning agents: the agents that are seated in place of these, and a description. */
export interface Population {
  /** In the order of the seats; agents that don't learn are as they were. */
  readonly seated: readonly AnyAgent[];
  /** As JSON, for run directories and checkpoints. */
  readonly config: Readonly<Record<string, unknown>>;
}

/**
 * Seats a population of partners.
 *
 * @param agents  in the order of the seats
 * @throws CoplayError for partners of other ids or that learn, and for seats with other kinds of partners
 */
export function population(
  game: AnyGame,
  agents: readonly AnyAgent[],
  { of, ...rule }: ResolvedPartners,
  seed: number,
): Population {
  const draws = createGenerator(streamSeed(seed, 'train/partners'));
  const seated = agents.map((agent, seat) => {
    if (!isLearning(agent)) return agent;
    return new PopulatedSeat(agent, seat, partnersOf(agent.id, of), { ...rule, seats: game.agents.length }, draws);
  });
  const populated = seated.filter((agent) => agent instanceof PopulatedSeat);
  const [first] = populated;
  if (first === undefined) {
    const remedy = 'Give a learning agent, or leave the option out.';
    fail('selfPlay: option partners', 'a run with learning agents', 'none', remedy);
  }
  const odd = populated.find(({ kinds }) => kinds.join() !== first.kinds.join());
  if (odd) {
    const expected = `the kinds that ${first.id} has: ${first.kinds.join(', ')}`;
    const got = `${odd.kinds.join(', ')} for ${odd.id}`;
    fail('selfPlay: option partners.of', expected, got, 'Return the same kinds for every id, in the same order.');
  }
  return { seated, config: { ...rule, kinds: first.kinds } };
}

function partnersOf(id: AgentId, of: PartnerOptions<ActionSpaces>['of']): readonly AnyAgent[] {
  const where = 'selfPlay: option partners.of';
  const partners = of(id);
  if (!Array.isArray(partners) || partners.length === 0) {
    fail(
      where,
      `a list of agents for ${id}, at least one`,
      show(partners),
      'Return such as [randomAgent({ game, id })].',
    );
  }
  for (const partner of partners) {
    checkAgent(where, partner);
    if (partner.id !== id) fail(where, `agents with the id ${id}`, partner.id, 'Make each with the id that is given.');
    if (isLearning(partner) || hidesLearner(partner)) {
      const remedy = 'Give what plays without learning: frozen(agent), pastSelves({ id, of: agent }), planner(agent).';
      fail(where, 'agents that do not learn', `${partner.name} of ${id}, which learns`, remedy);
    }
  }
  return partners;
}

/** What happened to a learner's own seats while partners played there isn't its experience: it counts as absent. */
export function ownExperience(
  experience: Experience<ActionSpaces>,
  { ids }: Pick<Learner, 'ids'>,
): Experience<ActionSpaces> {
  const partner = experience.extras[PARTNER]?.data;
  if (partner === undefined) return experience;
  const isOwn = experience.agents.map((id) => ids.includes(id));
  const active = experience.active.map((flag, i) => (isOwn[i % isOwn.length] && partner[i] === 1 ? 0 : flag));
  return { ...experience, active };
}

/** Without what partners did and earned: for the figures of episodes, which are about the agents of the run. */
export function withoutPartners(experience: Experience<ActionSpaces>): Experience<ActionSpaces> {
  const partner = experience.extras[PARTNER]?.data;
  if (partner === undefined) return experience;
  const clear = <Numbers extends Uint8Array | Float32Array>(numbers: Numbers) =>
    numbers.map((value, i) => (partner[i] === 1 ? 0 : value)) as Numbers;
  const infos = Object.entries(experience.extras).filter(([name]) => name.startsWith('info/'));
  const extras = infos.map(([name, { data, shape }]) => {
    return [name, { data: data.map((value, i) => (partner[i] === 1 ? 0 : value)), shape }];
  });
  return {
    ...experience,
    active: clear(experience.active),
    rewards: clear(experience.rewards),
    extras: { ...experience.extras, ...Object.fromEntries(extras) },
  };
}

/** A seat's state from step to step. */
interface SeatState extends SavedState {
  readonly agent: Saved;
  readonly partners: readonly Saved[];
  /** [B] episodes begun so far */
  readonly begun: Int32Array;
  /** [B] number of the partner that plays, or NOBODY */
  readonly playing: Int32Array;
}

const savedSchema = z.looseObject({
  agent: z.looseObject({}).optional(),
  partners: z.array(z.looseObject({}).nullable()),
});

/** A seat that its learning agent shares with partners: who plays is drawn at the start of an episode. */
class PopulatedSeat implements Agent<SeatState, ActionSpaces> {
  readonly id: AgentId;
  readonly name: string;
  readonly kinds: readonly string[];

  constructor(
    private readonly agent: AnyAgent,
    private readonly seat: number,
    private readonly partners: readonly AnyAgent[],
    private readonly rule: Omit<ResolvedPartners, 'of'> & { readonly seats: number },
    /** The same for all seats of a run. Nothing is drawn from it, only from its children, so that seats agree. */
    private readonly draws: Generator,
  ) {
    this.id = agent.id;
    this.name = agent.name;
    this.kinds = partners.map(({ name }) => name);
  }

  initialState(rows: number): SeatState {
    return {
      agent: this.agent.initialState(rows),
      partners: this.partners.map((partner) => partner.initialState(rows)),
      begun: new Int32Array(rows),
      playing: new Int32Array(rows).fill(NOBODY),
    };
  }

  /** All are asked, each about the rows that it plays; an agent that doesn't play a row is absent there. */
  async act(
    input: AgentInput<ActionSpaces>,
    state: SeatState,
    generator: Generator,
  ): Promise<AgentOutput<SeatState, ActionSpaces>> {
    const begun = state.begun.map((count, row) => count + input.isFirst[row]);
    const playing = state.playing.map((kind, row) => (input.isFirst[row] === 1 ? this.draw(row, begun[row]) : kind));
    const rowsOf = (kind: number): AgentInput<ActionSpaces> => {
      return { ...input, active: input.active.map((flag, row) => (playing[row] === kind ? flag : 0)) };
    };
    const own = generator.fork();
    const answer = await this.agent.act(rowsOf(NOBODY), state.agent, generator);
    const actions = answer.actions.slice();
    const width = actions.length / input.rows;
    const partners: Saved[] = [];
    for (const [kind, partner] of this.partners.entries()) {
      const given = await partner.act(rowsOf(kind), state.partners[kind], own.split(kind));
      partners.push(given.state);
      for (let row = 0; row < input.rows; row++) {
        if (playing[row] === kind) copyRow(given.actions, row, actions, row, width);
      }
    }
    const partner = ndarray(Uint8Array.from(playing, (kind) => (kind === NOBODY ? 0 : 1)));
    return {
      actions,
      state: { agent: answer.state, partners, begun, playing },
      extras: { ...answer.extras, [PARTNER]: partner },
    };
  }

  observe(step: AgentStep<ActionSpaces>): void {
    this.agent.observe?.(step);
    for (const partner of this.partners) partner.observe?.(step);
  }

  save(): SavedState {
    const { agent, partners } = this;
    return {
      ...(agent.save && { agent: agent.save() }),
      partners: partners.map((partner) => partner.save?.() ?? null),
    };
  }

  restore(saved: SavedState): void {
    const where = `partners (${this.id}).restore`;
    checkArgument(where, 'saved', savedSchema, saved);
    const given = saved['partners'] as readonly (SavedState | null)[];
    if (given.length !== this.partners.length) {
      const remedy = 'Make the run with the partners that it was saved with.';
      fail(`${where}: saved.partners`, `${this.partners.length} partners`, String(given.length), remedy);
    }
    const memories = this.partners.flatMap((partner, i) => memoryOf(`saved.partners[${i}]`, partner, given[i]));
    const own = memoryOf('saved.agent', this.agent, (saved['agent'] as SavedState | undefined) ?? null);
    restoreParts(where, [...own, ...memories]);
  }

  /**
   * The partner that plays in environment `row` from its episode `number` on, counted from 1. The draw depends on these
   * two only, and not on which seat asks: seats agree on the kind without a memory that they share.
   */
  private draw(row: number, number: number): number {
    const { share, together, episodes, seats } = this.rule;
    const common = this.draws.split(row).split(Math.ceil(number / episodes));
    const own = common.split(this.seat);
    if (own.uniform() >= share) return NOBODY;
    return (together ? common.split(seats) : own).integer(this.partners.length);
  }
}

/** The memory of one agent of a seat, if it has one. */
function memoryOf(path: string, agent: AnyAgent, saved: SavedState | null): PartToRestore[] {
  const { save, restore } = agent;
  if (!save || !restore || saved === null) return [];
  const part = { state: () => save.call(agent), restore: (state: SavedState) => restore.call(agent, state) };
  return [{ path, part, saved }];
}
