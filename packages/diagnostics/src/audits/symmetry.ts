import { type AgentId, checkOptions, fail, show } from '@coplay/core';
import { checkArgument, checkNumber } from '@coplay/core/checks';
import { z } from 'zod';
import { estimate } from '../inputs';
import { bootstrap, type Estimate, type PermutationResult, permutationTest } from '../statistics';
import type { Verdict } from './verdict';

/** Options of {@link symmetryAudit}. */
export interface SymmetryOptions {
  /** A p-value below this one is called unequal; in (0, 1). Default 0.01 */
  readonly level?: number;
  /** Relabellings looked at or drawn; at least 1. Default 100,000 */
  readonly permutations?: number;
  /** Seed of resampling and relabelling. Default 0 */
  readonly seed?: number;
}

const schema = z
  .object({
    level: z.number().gt(0).lt(1).default(0.01),
    permutations: z.number().int().min(1).default(100_000),
    seed: z.number().int().min(0).default(0),
  })
  .strict();

/** What {@link symmetryAudit} found. */
export interface SymmetryReport {
  /** Mean return of each agent over seeds, with its 95 % bootstrap interval. */
  readonly means: Readonly<Record<AgentId, Estimate>>;
  readonly test: PermutationResult;
  /** Whether nothing speaks against equal agents. */
  readonly isSymmetric: boolean;
  /** The finding in one sentence. */
  readonly finding: string;
}

const reportSchema = z.looseObject({
  means: z.record(z.string(), estimate),
  test: z.looseObject({ smallestPValue: z.number() }),
  isSymmetric: z.boolean(),
  finding: z.string(),
});

/**
 * Is an agent favoured by its place? Equal agents in a symmetric game must earn the same over seeds; one that always
 * earns more shows a fault such as actions that are resolved in the order of ids, or one agent's data given to another.
 *
 * Inside one run learners may settle into roles, which is no fault: give several seeds. See {@link permutationTest}.
 *
 * @param returns  for each agent its mean return in each seed, [S], S >= 2; seeds in the same order for all
 * @throws CoplayError for fewer than two agents or seeds, or lists that differ in length
 */
export function symmetryAudit(
  returns: Readonly<Record<AgentId, readonly number[]>>,
  options: SymmetryOptions = {},
): SymmetryReport {
  const { level, permutations, seed } = checkOptions('symmetryAudit', schema, options);
  checkArgument('symmetryAudit', 'returns', z.record(z.string(), z.array(z.number())), returns);
  const agents = Object.keys(returns);
  checkReturns(returns, agents);
  const rows = returns[agents[0]].map((_, s) => agents.map((id) => returns[id][s]));
  const test = permutationTest(rows, { permutations, seed });
  const means = Object.fromEntries(agents.map((id) => [id, bootstrap(returns[id], { seed })]));
  const isSymmetric = test.pValue >= level;
  return { means, test, isSymmetric, finding: describe(test, level, rows.length) };
}

/**
 * The same as a verdict: suspects are the agents with the greatest and the least mean, in that order, where agents
 * aren't equal.
 *
 * @param level  as it was for the audit. Default 0.01
 */
export function symmetryVerdict(audit: SymmetryReport, level = 0.01): Verdict {
  checkArgument('symmetryVerdict', 'audit', reportSchema, audit);
  checkNumber('symmetryVerdict', 'level', level, { above: 0, below: 1 });
  const { means, test, isSymmetric, finding } = audit;
  if (test.smallestPValue > level) return { isFair: null, suspects: [], finding };
  if (isSymmetric) return { isFair: true, suspects: [], finding };
  const order = Object.keys(means).sort((a, b) => means[b].value - means[a].value);
  const told = order.map((id) => `${id} ${means[id].value.toFixed(3)}`).join(', ');
  return { isFair: false, suspects: [order[0], order[order.length - 1]], finding: `${finding} Means: ${told}.` };
}

function describe({ pValue, smallestPValue }: PermutationResult, level: number, seeds: number): string {
  const p = `p ${pValue < 1e-4 ? '< 0.0001' : `= ${pValue.toFixed(4)}`} over ${seeds} seeds`;
  if (smallestPValue > level)
    return `Too few seeds to tell (${p}; the smallest possible p is ${smallestPValue.toFixed(4)}).`;
  return pValue < level ? `Agents are not equal (${p}).` : `No agent is favoured (${p}).`;
}

function checkReturns(returns: Readonly<Record<AgentId, readonly number[]>>, agents: readonly AgentId[]): void {
  const lengths = agents.map((id) => returns[id].length);
  if (agents.length < 2 || lengths[0] < 2 || lengths.some((length) => length !== lengths[0])) {
    const expected = 'two agents or more, each with the returns of the same two seeds or more';
    const got = agents.length === 0 ? show(returns) : agents.map((id, i) => `${id}: ${lengths[i]}`).join(', ');
    fail('symmetryAudit', expected, got, 'Give one mean return for each agent and seed.');
  }
}
