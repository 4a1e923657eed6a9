import { type CrossPlay, checkOptions, createGenerator, fail, type SeatedPlay, streamSeed } from '@coplay/core';
import { checkArgument, typedArrays } from '@coplay/core/checks';
import { z } from 'zod';
import type { HeatMapData } from '../plots/heat-map';
import { bootstrap, type Estimate, percentileInterval, resamplingSchema } from '../statistics/bootstrap';
import { mean } from '../statistics/summary';
import type { TableRow } from '../tables';
import { bradleyTerry, type PairScores } from './bradley-terry';

/** Options of {@link crossPlaySummary}. */
export interface CrossPlaySummaryOptions {
  /** Coverage of the intervals, in (0, 1). Default 0.95 */
  readonly confidence?: number;
  /** Number of resamples; at least 1. Default 1,000 */
  readonly resamples?: number;
  /** Seed of the resampling, from 0 to 2^53 - 1. Default 0 */
  readonly seed?: number;
}

/** One policy among agents of another, or of itself. */
export interface CrossPlayCell {
  /** Its mean return, over episodes and the seats that it played; the interval is over episodes. */
  readonly value: Estimate;
  /** The same of each seat that it played. */
  readonly bySeat: Readonly<Record<string, Estimate>>;
}

/** What {@link crossPlaySummary} found. */
export interface CrossPlaySummary {
  readonly policies: readonly string[];
  /** [P, P] the return of policy i in one seat among agents of policy j in all others; on the diagonal, of all seats */
  readonly matrix: readonly (readonly CrossPlayCell[])[];
  /** Mean return of all seats where each policy plays with itself; intervals and count are over policies. */
  readonly selfPlay: Estimate;
  /** The same where it plays with others, either as one agent or as the others; absent for a single policy. */
  readonly crossPlay?: Estimate;
  /** Self-play minus cross-play of the same policy (Hu et al. 2020); absent for a single policy. */
  readonly gap?: Estimate;
  /**
   * Elo ratings by policy, 1500 on average: how often it earns more than the others in its episodes. A model of Bradley
   * and Terry, with one imagined draw between each two policies that met. Intervals are over episodes. Absent for a
   * single policy
   */
  readonly ratings?: Readonly<Record<string, Estimate>>;
  /**
   * By policy: which policy earns most in one seat among agents of it, and by how much more than it earns itself there:
   * 0 or more. A lower bound of its exploitability
   */
  readonly bestResponses: Readonly<Record<string, { readonly policy: string; readonly gain: number }>>;
}

const schema = resamplingSchema.extend({ resamples: z.number().int().min(1).default(1_000) });

const playsSchema = z
  .looseObject({
    game: z.string(),
    agents: z.array(z.string()).min(1),
    policies: z.array(z.string()).min(1),
    plays: z
      .array(z.looseObject({ seating: z.array(z.string()), returns: typedArrays<Float64Array>('float64') }))
      .min(1),
  })
  .refine(
    ({ agents, plays }) =>
      plays.every(({ seating, returns }) => {
        return seating.length === agents.length && returns.length > 0 && returns.length % agents.length === 0;
      }),
    { path: ['plays'], error: 'a policy and returns for each seat' },
  );

const WHERE = 'crossPlaySummary';

/**
 * Returns of policies among each other, with intervals, and what follows from them: the gap between self-play and
 * cross-play, ratings, and best responses among the policies.
 *
 * Intervals of returns and ratings are over episodes: they are about these policies. Those of `selfPlay`, `crossPlay`
 * and `gap` are over policies: with one policy for each seed of an algorithm, they are about the algorithm.
 *
 * @param plays  of `crossPlay`
 * @throws CoplayError for plays of another form, and where a policy never met another
 */
export function crossPlaySummary(plays: CrossPlay, options: CrossPlaySummaryOptions = {}): CrossPlaySummary {
  checkArgument(WHERE, 'plays', playsSchema, plays);
  const resampling = checkOptions(WHERE, schema, options);
  const { policies } = plays;
  const matrix = policies.map((focal) => policies.map((company) => cellOf(plays, focal, company, resampling)));
  const own = policies.map((policy) => mean(returnsOf(plays, ({ seating }) => seating.every((one) => one === policy))));
  const estimate = (values: readonly number[]) => bootstrap(values, resampling);
  const bestResponses = Object.fromEntries(policies.map((policy, i) => [policy, bestAmong(policies, matrix, i)]));
  const summary = { policies, matrix, selfPlay: estimate(own), bestResponses };
  if (policies.length === 1) return summary;
  const others = policies.map((policy) => {
    return mean(returnsOf(plays, ({ seating }) => seating.includes(policy) && seating.some((one) => one !== policy)));
  });
  return {
    ...summary,
    crossPlay: estimate(others),
    gap: estimate(own.map((value, i) => value - others[i])),
    ratings: ratingsOf(plays, resampling),
  };
}

type Resampling = z.infer<typeof schema>;

/** Returns of all seats that played in some seatings. */
function returnsOf({ plays }: CrossPlay, isOne: (play: SeatedPlay) => boolean): Float64Array {
  return Float64Array.from(
    plays
      .filter(isOne)
      .flatMap(({ returns }) => [...returns])
      .filter((one) => !Number.isNaN(one)),
  );
}

function cellOf(all: CrossPlay, focal: string, company: string, resampling: Resampling): CrossPlayCell {
  const { plays, agents } = all;
  const bySeat: Record<string, Float64Array> = {};
  for (const { seating, returns } of plays) {
    const seats = agents
      .map((_, seat) => seat)
      .filter((seat) => {
        return seating.every((one, other) => (other === seat ? one === focal : one === company));
      });
    for (const seat of seats) {
      const own = returns.filter((value, i) => i % agents.length === seat && !Number.isNaN(value));
      if (own.length > 0) bySeat[agents[seat]] = own;
    }
  }
  if (Object.keys(bySeat).length === 0) {
    const expected = `a play of ${focal} among agents of ${company}, or of ${company} in a game of two`;
    fail(WHERE, expected, 'none', 'Give what crossPlay returned.');
  }
  const estimates = Object.entries(bySeat).map(([seat, own]) => [seat, bootstrap(own, resampling)] as const);
  const everySeat = Float64Array.from(Object.values(bySeat).flatMap((own) => [...own]));
  return { value: bootstrap(everySeat, resampling), bySeat: Object.fromEntries(estimates) };
}

function bestAmong(policies: readonly string[], matrix: CrossPlaySummary['matrix'], company: number) {
  const values = matrix.map((row) => row[company].value.value);
  const best = values.indexOf(Math.max(...values));
  return { policy: policies[best], gain: values[best] - values[company] };
}

/** An episode in which two policies met: the score of the first, 1 for a win, 0.5 for a draw, 0 for a loss. */
interface Meeting {
  readonly first: number;
  readonly second: number;
  readonly scores: readonly number[];
}

function ratingsOf(plays: CrossPlay, { resamples, seed, confidence }: Resampling): Record<string, Estimate> {
  const meetings = meetingsOf(plays);
  const P = plays.policies.length;
  const rate = (pick: (meeting: Meeting) => number) => elo(bradleyTerry(P, scoresOf(meetings, P, pick)));
  const values = rate(({ scores }) => mean(scores));
  const generator = createGenerator(streamSeed(seed, 'cross-play ratings'));
  const resampled = Array.from({ length: resamples }, () => rate(({ scores }) => meanOfDraws(scores)));
  function meanOfDraws(scores: readonly number[]): number {
    let sum = 0;
    for (let i = 0; i < scores.length; i++) sum += scores[generator.integer(scores.length)];
    return sum / scores.length;
  }
  const count = Math.min(...meetings.map(({ scores }) => scores.length));
  const estimates = plays.policies.map((policy, i): [string, Estimate] => {
    const ratings = Float64Array.from(resampled, (one) => one[i]);
    return [policy, { value: values[i], ...percentileInterval(ratings, confidence), count }];
  });
  return Object.fromEntries(estimates);
}

/** Compares, in each episode, the mean return of one policy's seats with that of the other's. */
function meetingsOf({ plays, agents, policies }: CrossPlay): Meeting[] {
  const A = agents.length;
  return plays.flatMap(({ seating, returns }) => {
    const [first, second, third] = [...new Set(seating)];
    if (second === undefined || third !== undefined) return [];
    const scores: number[] = [];
    for (let from = 0; from < returns.length; from += A) {
      const of = (policy: string) => {
        const own = seating.flatMap((one, seat) => (one === policy ? [returns[from + seat]] : []));
        return own.filter((value) => !Number.isNaN(value));
      };
      const [ours, theirs] = [of(first), of(second)];
      if (ours.length > 0 && theirs.length > 0) scores.push((Math.sign(mean(ours) - mean(theirs)) + 1) / 2);
    }
    if (scores.length === 0) return [];
    return [{ first: policies.indexOf(first), second: policies.indexOf(second), scores }];
  });
}

/** Scores of each pair, with one imagined draw for each two policies that met. */
function scoresOf(meetings: readonly Meeting[], P: number, pick: (meeting: Meeting) => number): PairScores {
  const wins = Array.from({ length: P }, () => new Float64Array(P));
  for (const meeting of meetings) {
    const { first, second, scores } = meeting;
    const share = pick(meeting);
    if (wins[first][second] + wins[second][first] === 0) {
      wins[first][second] = 0.5;
      wins[second][first] = 0.5;
    }
    wins[first][second] += share * scores.length;
    wins[second][first] += (1 - share) * scores.length;
  }
  return wins;
}

/** Ratings of strengths: 400 points for a factor of ten, 1500 on average. */
function elo(strengths: Float64Array): Float64Array {
  const points = strengths.map((strength) => 400 * Math.log10(strength));
  const centre = mean(points);
  return points.map((point) => 1500 + point - centre);
}

/** A row for each policy: its return among each other one, its rating, and the best response among the policies. */
export function crossPlayTable(summary: CrossPlaySummary): TableRow[] {
  checkArgument('crossPlayTable', 'summary', summarySchema, summary);
  const { policies, matrix, ratings, bestResponses } = summary;
  return policies.map((policy, i) => ({
    policy,
    ...Object.fromEntries(policies.map((company, j) => [`among ${company}`, matrix[i][j].value])),
    ...(ratings && { rating: ratings[policy] }),
    'best response': bestResponses[policy].policy,
    gain: bestResponses[policy].gain,
  }));
}

/** The matrix for `heatMap` and `addToReport`: rows play in one seat, columns in all others. */
export function crossPlayHeatMap(summary: CrossPlaySummary): HeatMapData {
  checkArgument('crossPlayHeatMap', 'summary', summarySchema, summary);
  const { policies, matrix } = summary;
  return { rows: policies, columns: policies, values: matrix.map((row) => row.map(({ value }) => value.value)) };
}

const cellSchema = z.looseObject({ value: z.looseObject({ value: z.number() }) });
const summarySchema = z
  .looseObject({
    policies: z.array(z.string()).min(1),
    matrix: z.array(z.array(cellSchema)),
    bestResponses: z.record(z.string(), z.looseObject({ policy: z.string(), gain: z.number() })),
  })
  .refine(
    ({ policies, matrix, bestResponses }) =>
      matrix.length === policies.length &&
      matrix.every((row) => row.length === policies.length) &&
      policies.every((policy) => Object.hasOwn(bestResponses, policy)),
    'a row, a column and a best response for each policy',
  );
