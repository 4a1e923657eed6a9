import { type AgentId, fail, show } from '@coplay/core';
import { checkArgument } from '@coplay/core/checks';
import { z } from 'zod';
import { verdict } from '../inputs';
import type { Verdict } from './verdict';

/** One test of an audit and its verdict. */
export interface AuditStep {
  /** For tables: `(c) configuration`. */
  readonly test: string;
  /**
   * The part at fault if this test fails, such as `environment`, to follow the word `the`; undefined for a test that
   * shows an order but no cause.
   */
  readonly cause?: string;
  readonly verdict: Verdict;
}

/** What {@link nameCulprit} concludes. */
export interface Conclusion {
  /** The cause; `none` where every test is passed, `unknown` where there's an order of agents that no test explains. */
  readonly culprit: string;
  readonly suspects: readonly AgentId[];
  /** The conclusion in a sentence or two. */
  readonly finding: string;
}

const schema = z.array(z.looseObject({ test: z.string(), cause: z.string().optional(), verdict }));

/**
 * Names the part at fault. Steps come in the order in which one fault explains the failures after it: an environment
 * that favours a seat explains returns, a learner that is given another's trajectory explains its counts. So the first
 * test that fails and knows a cause names it.
 *
 * @throws CoplayError for no steps
 */
export function nameCulprit(steps: readonly AuditStep[]): Conclusion {
  checkArgument('nameCulprit', 'steps', schema, steps);
  if (steps.length === 0) fail('nameCulprit', 'a test or more', show(steps), 'Give the tests with their verdicts.');
  const failed = steps.filter(({ verdict }) => verdict.isFair === false);
  const found = failed.find(({ cause }) => cause !== undefined);
  if (found?.cause !== undefined) {
    const others = failed.filter((step) => step !== found).map(({ test }) => test);
    const also = others.length > 0 ? ` What else fails may follow from it: ${others.join('; ')}.` : '';
    const finding = `The fault lies in the ${found.cause}. ${found.verdict.finding}${also}`;
    return { culprit: found.cause, suspects: found.verdict.suspects, finding };
  }
  if (failed.length > 0) {
    const finding = `Agents are unequal, and no test says why: ${failed.map(({ test }) => test).join('; ')}.`;
    return { culprit: 'unknown', suspects: [...new Set(failed.flatMap(({ verdict }) => verdict.suspects))], finding };
  }
  const open = steps.filter(({ verdict }) => verdict.isFair === null).map(({ test }) => test);
  const untold = open.length > 0 ? ` Too few data to tell: ${open.join('; ')}.` : '';
  return { culprit: 'none', suspects: [], finding: `No test finds a fault.${untold}` };
}
