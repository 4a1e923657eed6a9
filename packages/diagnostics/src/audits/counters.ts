import { type AgentId, checkOptions, fail } from '@coplay/core';
import { checkArgument } from '@coplay/core/checks';
import { z } from 'zod';
import { counters as countersSchema } from '../inputs';
import { median } from '../statistics';
import type { Verdict } from './verdict';

/** Counters of each agent by name: `{ agent_0: { updates: 40, 'policy/steps': 640 } }`. */
export type Counters = Readonly<Record<AgentId, Readonly<Record<string, number>>>>;

/** Options of {@link counterAudit}. */
export interface CounterAuditOptions {
  /** How far a counter may be from the median of the agents, as a share of it; at least 0. Default 0: equal */
  readonly tolerance?: number;
}

const schema = z.strictObject({ tolerance: z.number().min(0).default(0) });

/**
 * Have all agents had their share: updates by agent and module, for instance? Suspects are agents whose count differs
 * from the median. A counter that an agent doesn't have counts 0.
 *
 * @throws CoplayError for fewer than two agents or wrong options
 */
export function counterAudit(counters: Counters, options: CounterAuditOptions = {}): Verdict {
  const { tolerance } = checkOptions('counterAudit', schema, options);
  const ids = checkAgents('counterAudit', counters);
  const names = [...new Set(ids.flatMap((id) => Object.keys(counters[id])))];
  const odd = names.flatMap((name) => {
    const middle = median(ids.map((id) => counters[id][name] ?? 0));
    const away = ids.filter((id) => Math.abs((counters[id][name] ?? 0) - middle) > tolerance * middle);
    return away.map((id) => ({ id, text: `${id} has ${counters[id][name] ?? 0} ${name}, the median is ${middle}` }));
  });
  return toVerdict(ids, odd, `All agents have the same counts${tolerance > 0 ? `, within ${100 * tolerance} %` : ''}.`);
}

/**
 * Did every agent receive its due samples? Compares the samples pushed into each buffer with the agent's steps. Agents
 * that leave early have fewer, so that counts of different agents tell nothing; each is compared with its own due.
 *
 * @param counted   what arrived, by agent and buffer
 * @param expected  what should have, with the same names
 * @throws CoplayError for fewer than two agents
 */
export function dueAudit(counted: Counters, expected: Counters): Verdict {
  checkArgument('dueAudit', 'counted', countersSchema, counted);
  const ids = checkAgents('dueAudit', expected, 'expected');
  const odd = ids.flatMap((id) =>
    Object.entries(expected[id]).flatMap(([name, due]) => {
      const got = counted[id]?.[name] ?? 0;
      return got === due ? [] : [{ id, text: `${id} was given ${got} of ${due} ${name}` }];
    }),
  );
  return toVerdict(ids, odd, 'Every agent received exactly its due samples.');
}

function toVerdict(
  ids: readonly AgentId[],
  odd: readonly { readonly id: AgentId; readonly text: string }[],
  fair: string,
): Verdict {
  const suspects = ids.filter((id) => odd.some((entry) => entry.id === id));
  const finding = odd.length === 0 ? fair : `${odd.map(({ text }) => text).join('; ')}.`;
  return { isFair: odd.length === 0, suspects, finding };
}

function checkAgents(where: string, counters: Counters, name = 'counters'): AgentId[] {
  checkArgument(where, name, countersSchema, counters);
  const ids = Object.keys(counters);
  if (ids.length < 2) fail(where, 'two agents or more', String(ids.length), 'Give the counters of each agent.');
  return ids;
}
