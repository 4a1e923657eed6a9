import { type AgentId, fail, show } from '@coplay/core';
import { checkArgument } from '@coplay/core/checks';
import { z } from 'zod';
import { figure } from '../inputs';
import { listed, type Verdict } from './verdict';

/** One agent's learner and whose data moved it. */
export interface LearnerInfluence {
  /** Whose data it is to learn from: one agent, or several that share weights. */
  readonly owns: readonly AgentId[];
  /**
   * For each agent: how far the learner's parameters were moved by a change of that agent's data (rewards, say), in any
   * unit; exactly 0 for not at all.
   */
  readonly movedBy: Readonly<Record<AgentId, number>>;
}

/** What {@link ownershipAudit} found. */
export interface OwnershipReport extends Verdict {
  /** By learner: whose data it learns from, though they aren't its own. */
  readonly foreign: Readonly<Record<string, readonly AgentId[]>>;
  /** By learner: whose data it ought to learn from and doesn't. */
  readonly ignored: Readonly<Record<string, readonly AgentId[]>>;
}

const schema = z.record(
  z.string(),
  z.looseObject({ owns: z.array(z.string()), movedBy: z.record(z.string(), figure) }),
);

/**
 * Does every learner train on its own trajectory? Make the same update several times from the same start, each time
 * with one agent's data changed, and compare the parameters: only the agent's own learner's may differ.
 *
 * @param influence  by the learner's name, which for a learner of one agent is the agent's id
 * @throws CoplayError for no learners, or a learner without owners
 */
export function ownershipAudit(influence: Readonly<Record<string, LearnerInfluence>>): OwnershipReport {
  checkInfluence(influence);
  const sift = (isWrong: (learner: LearnerInfluence, id: AgentId) => boolean) => {
    const found = Object.entries(influence).map(([name, learner]) => {
      return [name, Object.keys(learner.movedBy).filter((id) => isWrong(learner, id))] as const;
    });
    return Object.fromEntries(found.filter(([, ids]) => ids.length > 0));
  };
  const foreign = sift(({ owns, movedBy }, id) => !owns.includes(id) && movedBy[id] !== 0);
  const ignored = sift(({ owns, movedBy }, id) => owns.includes(id) && movedBy[id] === 0);
  const wrong = Object.keys(influence).filter((name) => name in foreign || name in ignored);
  return {
    isFair: wrong.length === 0,
    suspects: [...new Set(wrong.flatMap((name) => influence[name].owns))],
    finding: describe(influence, wrong, foreign, ignored),
    foreign,
    ignored,
  };
}

function describe(
  influence: Readonly<Record<string, LearnerInfluence>>,
  wrong: readonly string[],
  foreign: OwnershipReport['foreign'],
  ignored: OwnershipReport['ignored'],
): string {
  if (wrong.length === 0) return "Every learner's parameters depend on its own agents' data only.";
  const sentences = wrong.map((name) => {
    const parts = [
      ...(foreign[name] ? [`is moved by the data of ${listed(foreign[name])}`] : []),
      ...(ignored[name] ? [`isn't moved by the data of ${listed(ignored[name])}`] : []),
    ];
    const owners = influence[name].owns;
    const who = owners.length === 1 && owners[0] === name ? '' : ` (of ${listed(owners)})`;
    return `the learner ${name}${who} ${parts.join(', and ')}`;
  });
  return `Not every learner trains on its own trajectory: ${sentences.join('; ')}.`;
}

function checkInfluence(influence: Readonly<Record<string, LearnerInfluence>>): void {
  checkArgument('ownershipAudit', 'influence', schema, influence);
  const learners = Object.entries(influence);
  const bad = learners.find(([, { owns, movedBy }]) => owns.length === 0 || owns.some((id) => !(id in movedBy)));
  if (learners.length > 0 && !bad) return;
  const got = bad ? `${bad[0]}: owns ${show(bad[1].owns)}, moved by ${show(Object.keys(bad[1].movedBy))}` : 'none';
  const expected = 'learners that own an agent or more, each of which is among movedBy';
  fail('ownershipAudit', expected, got, 'Change the data of every agent in turn, and say whose a learner is to use.');
}
