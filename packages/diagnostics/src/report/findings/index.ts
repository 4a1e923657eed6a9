import { checkArgument } from '@coplay/core/checks';
import { z } from 'zod';
import { run as runSchema } from '../../inputs';
import type { Run } from '../../runs';
import type { PageGroup } from '../data';
import { groupRuns, runNames } from '../differences';
import { type ReportExtras, readExtras } from '../extras';
import { knownNames } from '../keys';
import { unequalAgents } from './agents';
import { inflatedCritic, invented } from './critic';
import type { Finding, Subject } from './finding';
import { collapsedClasses, rareOutcomes, staleSubgoals, unusedModel } from './models';
import { earlyEntropy, largeUpdates, notFinite } from './policy';

export type { Finding } from './finding';

const ALONE = [
  notFinite,
  inflatedCritic,
  invented,
  rareOutcomes,
  unusedModel,
  staleSubgoals,
  largeUpdates,
  earlyEntropy,
];
/** The number of runs whose figures are listed where a finding is about many. */
const TOLD = 3;
const LEVELS = ['fault', 'warning', 'note'];

/**
 * What looks wrong in runs, in plain words, the gravest first: an inflated critic, unequal agents, a collapsed class,
 * stale subgoals, a world model that doesn't know rare outcomes or was never used, rewards that are invented, numbers
 * that aren't finite, updates that are too large, exploration that ended early. Each names the experiment that would
 * confirm it. Nothing found doesn't prove that nothing is wrong.
 *
 * @param runs  read by `readRun`; runs that differ only in the seed are judged together where a check needs several
 */
export function findProblems(runs: readonly Run[]): Finding[] {
  checkArgument('findProblems', 'runs', z.array(runSchema), runs);
  const names = runNames(runs.map(({ directory }) => directory));
  const known = knownNames(runs);
  const subjects = runs.map((run, i): Subject => ({ name: names[i], run, names: known }));
  const extras = runs.map(({ directory }) => readExtras(directory));
  return problemsOf(subjects, extras, groupRuns(runs, names));
}

/**
 * {@link findProblems} of runs whose names, extras and groups are known.
 *
 * @param extras  for each subject
 * @param groups  subjects that differ in nothing but the seed, by index
 */
export function problemsOf(
  subjects: readonly Subject[],
  extras: readonly ReportExtras[],
  groups: readonly Pick<PageGroup, 'runs'>[],
): Finding[] {
  const alone = subjects.flatMap((subject, i) => [
    ...ALONE.flatMap((check) => check(subject)),
    ...collapsedClasses(subject, extras[i]),
  ]);
  const together = groups.flatMap((group) => unequalAgents(group.runs.map((run) => subjects[run])));
  return merged([...alone, ...together]).sort((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level));
}

/** One finding for all runs in which a check found the same kind of thing. */
function merged(findings: readonly Finding[]): Finding[] {
  const kinds = new Map<string, Finding[]>();
  for (const finding of findings) {
    const kind = `${finding.check} ${finding.title}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), finding]);
  }
  return [...kinds.values()].map((same) => (same.length === 1 ? same[0] : joined(same)));
}

function joined(same: readonly Finding[]): Finding {
  const told = same.slice(0, TOLD).map(({ runs, finding }) => `${runs.join(', ')}: ${finding}`);
  const more = same.length > TOLD ? [`The same in ${same.length - TOLD} more.`] : [];
  return { ...same[0], finding: [...told, ...more].join(' '), runs: [...new Set(same.flatMap(({ runs }) => runs))] };
}
