import {
  type Agent,
  createGenerator,
  createRollout,
  type Experience,
  type Game,
  streamSeed,
  vectorEnv,
} from '@coplay/core';
import { nearestHare, nearestStag, randomAgent } from '@coplay/envs';
import type { CoPlayer } from './co-players';
import { focalSeats, LINE_UPS, type LineUp } from './meeting';

/** Steps that are recorded at once. */
const STEPS = 40;

/** Focal agents with whom rules are compared: two rules are equal if they act equally with each of these. */
const FOCAL: readonly ((game: Game, id: string) => Agent)[] = [
  (game, id) => nearestStag({ game, id }) as Agent,
  (game, id) => nearestHare({ game, id }) as Agent,
  (game, id) => randomAgent({ game, id }) as Agent,
];

/** Which episodes of a co-player are its own. */
interface Distinct {
  /** The first episode, from 0, in which it acts otherwise than every co-player before it in the list. */
  readonly from: number;
  /** Whose episodes the earlier ones are, if any; of several the one that it equals for longest. */
  readonly equals: string | undefined;
}

/** Which episodes of each co-player are its own, by line-up and label. */
export type DistinctByLineUp = Readonly<Record<LineUp, Readonly<Record<string, Distinct>>>>;

/** {@link distinctEpisodes} in all line-ups. */
export async function distinctByLineUp(
  game: Game,
  coPlayers: Readonly<Record<string, CoPlayer>>,
  episodes: number,
  boards: number,
): Promise<DistinctByLineUp> {
  const found = {} as Record<LineUp, Record<string, Distinct>>;
  for (const lineUp of Object.keys(LINE_UPS) as LineUp[]) {
    found[lineUp] = await distinctEpisodes(game, coPlayers, { lineUp, episodes, boards });
  }
  return found;
}

/** How co-players are compared. */
interface Check {
  readonly lineUp: LineUp;
  readonly episodes: number;
  /** Boards on which the actions of two rules are compared. */
  readonly boards: number;
}

/**
 * Compares the actions of co-players in one line-up. Where a co-player acts for its first episodes exactly as an
 * earlier one in the list, these episodes count once, for the earlier one; where it does in all episodes, the two are
 * one cell.
 *
 * @returns by label
 */
async function distinctEpisodes(
  game: Game,
  coPlayers: Readonly<Record<string, CoPlayer>>,
  check: Check,
): Promise<Record<string, Distinct>> {
  const streams: [string, string[][]][] = [];
  const found: Record<string, Distinct> = {};
  for (const [label, coPlayer] of Object.entries(coPlayers)) {
    const own: string[][] = [];
    for (const focal of FOCAL) own.push(await actionsOf(game, coPlayer, focal, check));
    let [from, equals]: [number, string | undefined] = [0, undefined];
    for (const [earlier, others] of streams) {
      const common = Math.min(...own.map((stream, i) => commonEpisodes(stream, others[i])));
      if (common > from) [from, equals] = [common, earlier];
    }
    found[label] = { from, equals };
    streams.push([label, own]);
  }
  return found;
}

/** [episodes] what the co-players did in each on all boards, as text: games have different lengths. */
async function actionsOf(
  game: Game,
  coPlayer: CoPlayer,
  focal: (typeof FOCAL)[number],
  { lineUp, episodes, boards }: Check,
): Promise<string[]> {
  const seats = focalSeats(game.agents.length, LINE_UPS[lineUp], 0);
  const ids = seats.map((seat) => game.agents[seat]);
  const texts = Array.from({ length: episodes }, () => '');
  for (let board = 0; board < boards; board++) {
    const agents = game.agents.map((id, seat) => {
      if (seats.includes(seat)) return focal(game, id);
      return withEqualDraws(coPlayer.make(game, id, { episodes, focal: ids }), streamSeed(board, `draws/${seat}`));
    });
    const env = vectorEnv(game, { envs: 1, seed: streamSeed(board, 'boards') });
    const rollout = createRollout(env, agents, createGenerator(streamSeed(board, 'focal')));
    let episode = 0;
    while (episode < episodes) {
      const experience = await rollout.collect(STEPS);
      episode = addActions(experience, seats, texts, episode);
    }
  }
  return texts;
}

/** Adds the actions of co-players to the texts of episodes. @returns the episode that goes on afterwards */
function addActions(experience: Experience, focal: readonly number[], texts: string[], first: number): number {
  const { steps, actions, active, ended, agents } = experience;
  let episode = first;
  for (let t = 0; t < steps && episode < texts.length; t++) {
    for (let seat = 0; seat < agents.length; seat++) {
      const at = t * agents.length + seat;
      if (!focal.includes(seat) && active[at] === 1) texts[episode] += actions[at];
    }
    texts[episode] += '|';
    if (ended[t] === 1) episode++;
  }
  return episode;
}

function commonEpisodes(one: readonly string[], other: readonly string[]): number {
  const first = one.findIndex((text, episode) => text !== other[episode]);
  return first < 0 ? one.length : first;
}

/**
 * The agent with draws that depend on the step alone: however many numbers it draws in a step, all are the same one. So
 * rules that behave equally act equally, though one of them draws more numbers than the other.
 */
function withEqualDraws(agent: Agent, seed: number): Agent {
  const source = createGenerator(seed);
  return {
    ...agent,
    act: (input, state) => {
      const number = source.uniform();
      const draws = { uniform: () => number, integer: (n: number) => Math.floor(number * n) };
      return agent.act(input, state, Object.assign(createGenerator(seed), draws));
    },
    ...(agent.observe && { observe: (step) => agent.observe?.(step) }),
  };
}
