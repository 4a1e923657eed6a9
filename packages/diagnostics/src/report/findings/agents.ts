import { symmetryAudit, symmetryVerdict } from '../../audits';
import { summarise } from '../../runs';
import { apart, type Finding, figure, type Subject } from './finding';

/** Within one run, a distance between agents above this share of the best one's return is worth a word. */
const SPREAD = 0.25;

const COMMON = {
  check: 'unequal-agents',
  command: 'npm run study -- audit',
  metrics: ['episode/return'],
} as const;

/**
 * Agents of one setting that earn differently: over seeds by permuting their labels, in a single run as a note, since
 * learners may settle into roles.
 *
 * @param seeds  runs that differ in the seed only
 */
export function unequalAgents(seeds: readonly Subject[]): Finding[] {
  const last = seeds
    .filter(({ run }) => run.entries.length > 0)
    .map((subject) => ({ subject, returns: returnsOf(subject) }));
  const agents = [...new Set(last.flatMap(({ returns }) => Object.keys(returns)))]; // a run cut short may lack some
  const complete = last.filter(({ returns }) => agents.every((id) => Number.isFinite(returns[id])));
  if (agents.length < 2 || complete.length === 0) return [];
  const runs = complete.map(({ subject }) => subject.name);
  if (complete.length > 1) {
    const byAgent = Object.fromEntries(agents.map((id) => [id, complete.map(({ returns }) => returns[id])]));
    const { isFair, finding } = symmetryVerdict(symmetryAudit(byAgent));
    if (isFair === true) return [];
    if (isFair === false) {
      const advice =
        'In a game that is the same for all, no id may earn more over seeds. Suspects: actions that are resolved in the order of ids, one agent that gets another one’s data, settings that differ. The audit tries them one by one.';
      return [{ ...COMMON, level: 'fault', title: 'Agents are unequal', finding, advice, runs }];
    }
  }
  return complete.flatMap(({ subject, returns }) => roles(subject, returns));
}

function returnsOf({ run, names }: Subject): Record<string, number> {
  const summary = summarise(run.entries);
  const found = [...names.agents].filter((id) => summary[`episode/return/${id}`] !== undefined);
  return Object.fromEntries(found.map((id) => [id, summary[`episode/return/${id}`]]));
}

function roles(subject: Subject, returns: Readonly<Record<string, number>>): Finding[] {
  const order = apart(new Map(Object.entries(returns))).sort(([, a], [, b]) => b - a);
  const [[best, most], [worst, least]] = [order[0], order[order.length - 1]];
  if (most - least <= SPREAD * Math.abs(most)) return [];
  return [
    {
      ...COMMON,
      level: 'note',
      title: 'Agents earn differently',
      finding: `In the last fifth of ${subject.name}, ${best} earns ${figure(most)} and ${worst} ${figure(least)}.`,
      advice:
        'In one run, learners may settle into roles: no bug. Whether a place is favoured only several seeds can tell: give the report five runs or more.',
      runs: [subject.name],
    },
  ];
}
