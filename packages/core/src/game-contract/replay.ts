import { createGenerator, generatorFrom } from '../generator';
import { firstDifference } from './guarded';
import type { Transition } from './play';
import type { Outcome, Probe } from './probe';

/** The content of a state array before the second reset. */
const RUBBISH = 42;

/** Plays an episode's actions again from its seed and compares every state and result. */
export function checkDeterminism(probe: Probe, seed: number, transitions: readonly Transition[]): void {
  const { findings } = probe;
  const generator = createGenerator(seed);
  findings.moment = 'in the first state';
  // Other rubbish than before: an entry that reset() doesn't write shows as a difference.
  probe.reset(generator, RUBBISH);
  let difference = checkFirstState(probe, transitions[0].before);
  let place = 'reset';
  for (let t = 0; t < transitions.length && !difference; t++) {
    findings.moment = `step ${t + 1} played again`;
    const { actions, outcome, after } = transitions[t];
    difference = differs(outcome, probe.step(actions, generator), after, probe.save());
    place = 'step';
  }
  if (!difference) return;
  const remedy = 'Take all randomness from the generator, and keep all memory of an episode in the state.';
  findings.add('determinism', place, 'the same episode from the same seed and actions', difference, remedy);
}

/** Compares a first state with another of the same seed; notes rubbish that was left over, and mends it. */
function checkFirstState(probe: Probe, expected: readonly number[]): string | undefined {
  const index = firstDifference(expected, probe.save());
  if (index < 0) return undefined;
  if (probe.save()[index] !== RUBBISH) return `another value ${index} of the state`;
  const rule = 'the same first state for any previous content of the array';
  probe.findings.add('reset', 'reset', rule, `value ${index} left over`, 'Write all values of the state.');
  probe.load(expected);
  return undefined;
}

/** Checks that the action of an agent that has left, even -1, changes nothing. */
export function checkIgnored(probe: Probe, transitions: readonly Transition[]): void {
  const t = transitions.findIndex(({ views }) => views.some((view) => !view.isActive));
  if (t < 0) return;
  const { findings } = probe;
  const { before, views, generator, actions, outcome, after } = transitions[t];
  findings.moment = `step ${t + 1} with another action of agents that left`;
  probe.load(before);
  const { width } = probe.layout;
  const again = probe.step(
    actions.map((action, i) => (views[Math.floor(i / width)].isActive ? action : -1)),
    generatorFrom(generator),
  );
  const difference = differs(outcome, again, after, probe.save());
  if (difference) {
    const remedy = 'Skip agents that are not active.';
    findings.add('activity', 'step', 'the action of an inactive agent to be ignored', difference, remedy);
  }
}

/** How the outcome and the state of a repeated step differ from the first time; undefined where they don't. */
export function differs(
  outcome: Outcome,
  again: Outcome,
  after: readonly number[],
  now: readonly number[],
): string | undefined {
  for (const name of Object.keys(outcome)) {
    const agent = firstDifference(outcome[name], again[name]);
    if (agent >= 0) return `${name} of ${again[name][agent]} instead of ${outcome[name][agent]} for agent ${agent}`;
  }
  const index = firstDifference(after, now);
  return index < 0 ? undefined : `${now[index]} instead of ${after[index]} in value ${index} of the state`;
}
