import { createGenerator, generatorFrom, streamSeed } from '../generator';
import { firstDifference } from './guarded';
import type { Transition } from './play';
import type { Probe } from './probe';
import { differs } from './replay';
import type { View } from './rules';

/*
 * A batch steps many episodes in turn with one game, so a game may keep nothing of an episode outside its state. Here
 * another episode comes between any two calls: if a function of the game leaves something in a variable, the other
 * episode has overwritten it by then.
 */

const REMEDY = 'Keep everything that one call leaves for the next in the state array, not in variables of the game.';

/** Plays every step again from a copy of its state, the last one first, with steps of another episode in between. */
export function checkCopies(probe: Probe, transitions: readonly Transition[], other: readonly Transition[]): void {
  for (let t = transitions.length - 1; t >= 0; t--) {
    probe.findings.moment = `step ${t + 1} from a copy of its state, after steps of another episode`;
    const { before, views, generator, actions, outcome, after } = transitions[t];
    const resume = () => {
      playAnother(probe, other, t);
      probe.load(before);
    };
    const place = seesOtherwise(probe, views, resume);
    resume();
    const again = probe.step(actions, generatorFrom(generator));
    const difference = place ? `another answer of ${place}` : differs(outcome, again, after, probe.save());
    if (!difference) continue;
    const expected = 'the same from a copied state and generator';
    probe.findings.add('hidden-state', place ?? 'step', expected, difference, REMEDY);
    return;
  }
}

/** Checks that the pictures of a first state, and what agents see in it, are its own after steps of another episode. */
export function checkPictureCopies(probe: Probe, seed: number, other: readonly Transition[]): void {
  const { findings, game } = probe;
  probe.reset(createGenerator(seed));
  const state = probe.save();
  findings.moment = 'in a copy of a first state, after steps of another episode';
  const pictures = () => ({ scene: JSON.stringify(probe.scene()), writeLayout: probe.writeLayout() });
  const drawn = pictures();
  const resume = () => {
    playAnother(probe, other, 0);
    probe.load(state);
  };
  resume();
  const again = pictures();
  const place = (['scene', 'writeLayout'] as const).find((name) => drawn[name] !== again[name]);
  if (place) findings.add('hidden-state', place, 'the same picture of a copied state', 'another picture', REMEDY);
  if (!game.readLayout || drawn.writeLayout === undefined) return;
  probe.readLayout(drawn.writeLayout);
  const read = probe.save();
  const views = game.agents.map((_, agent) => viewOf(probe, agent));
  const changed = seesOtherwise(probe, views, () => {
    playAnother(probe, other, 0);
    const { writeLayout } = pictures();
    if (writeLayout !== undefined) probe.readLayout(writeLayout);
    probe.load(read);
  });
  if (!changed) return;
  const expected = `the same answer of ${changed} in a copy of the state that was read`;
  findings.add('hidden-state', 'readLayout', expected, 'another answer after another map was read', REMEDY);
}

/** Calls all functions of a step on a state of another episode, half an episode away from step t. */
function playAnother(probe: Probe, other: readonly Transition[], t: number): void {
  const { before, actions, generator } = other[(t + Math.ceil(other.length / 2)) % other.length];
  probe.reset(createGenerator(streamSeed(t, 'gameContract/between')));
  probe.load(before);
  for (let agent = 0; agent < probe.agents; agent++) viewOf(probe, agent);
  probe.step(actions, generatorFrom(generator));
  for (let agent = 0; agent < probe.agents; agent++) viewOf(probe, agent);
}

function viewOf(probe: Probe, agent: number): View {
  return { isActive: probe.isActive(agent), mask: probe.legal(agent), sight: probe.observe(agent) };
}

/**
 * The first function that shows another view than before, if any. Agents are called in reverse order, so that a value
 * that one agent's call leaves for the next agent's call shows.
 *
 * @param resume  loads the state again, after something else
 */
function seesOtherwise(probe: Probe, views: readonly View[], resume: () => void): string | undefined {
  const last = views.length - 1;
  resume();
  for (let agent = last; agent >= 0; agent--) {
    if (probe.isActive(agent) !== views[agent].isActive) return 'isActive';
  }
  resume();
  for (let agent = last; agent >= 0; agent--) {
    if (firstDifference(probe.legal(agent), views[agent].mask) >= 0) return 'legal';
  }
  resume();
  for (let agent = last; agent >= 0; agent--) {
    const { sight } = views[agent];
    const again = probe.observe(agent);
    if (Object.keys(sight).some((name) => firstDifference(sight[name], again[name]) >= 0)) return 'observe';
  }
  return undefined;
}
