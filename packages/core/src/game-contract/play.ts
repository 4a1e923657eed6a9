import { choicesOf, drawAction } from '../action-spaces';
import { createGenerator, type Generator, type GeneratorState } from '../generator';
import type { Outcome, Probe } from './probe';
import { checkEnds, checkOutcome, inspect, type View } from './rules';

/** One step of an episode, with everything needed to play it again. */
export interface Transition {
  readonly before: readonly number[];
  readonly views: readonly View[];
  readonly generator: GeneratorState;
  readonly actions: readonly number[];
  readonly outcome: Outcome;
  readonly after: readonly number[];
}

/** One in so many actions is drawn from all actions instead of the legal ones: illegal ones must be playable too. */
const ANY_ACTION = 8;

/**
 * Plays one episode at random and judges everything that the game does in it.
 *
 * @param seed  of the game's stream and of the actions
 */
export function playEpisode(probe: Probe, seed: number, episode: number): Transition[] {
  const { findings, game } = probe;
  const generator = createGenerator(seed);
  const chooser = generator.split(1);
  findings.moment = `at the start of episode ${episode}`;
  probe.reset(generator);
  checkElapsed(probe, 0);
  let views = inspect(probe);
  checkStart(probe, views);
  const transitions: Transition[] = [];
  for (let t = 0; t < game.maxSteps; t++) {
    findings.moment = `step ${t + 1} of episode ${episode}`;
    const before = probe.save();
    const actions = chooseActions(probe, views, chooser);
    const state = generator.state();
    const outcome = probe.step(actions, generator);
    const after = probe.save();
    transitions.push({ before, views, generator: state, actions, outcome, after });
    const wasActive = views.map((view) => view.isActive);
    checkOutcome(probe, outcome, wasActive);
    checkElapsed(probe, t + 1);
    views = inspect(probe);
    const isActive = views.map((view) => view.isActive);
    checkEnds(probe, outcome, wasActive, isActive);
    if (isOver(probe, outcome)) return transitions;
  }
  const got = `an episode that goes on after ${game.maxSteps} steps`;
  const remedy = 'In step maxSteps, write truncated 1 for every agent that has not ended.';
  findings.add('ending', 'step', `every agent to be terminated or truncated by step ${game.maxSteps}`, got, remedy);
  return transitions;
}

/** [A W] the actions of all agents; values that an agent's space lacks are 0. */
function chooseActions({ layout: { spaces, width } }: Probe, views: readonly View[], chooser: Generator): number[] {
  return views.flatMap(({ mask }, agent) => {
    const action = new Array<number>(width).fill(0);
    const hasChoices = choicesOf(spaces[agent]).length > 0;
    const allowed = hasChoices && chooser.integer(ANY_ACTION) === 0 ? mask.map(() => 1) : mask;
    drawAction(spaces[agent], allowed, 0, chooser, action, 0);
    return action;
  });
}

function checkStart({ findings, game }: Probe, views: readonly View[]): void {
  const absent = views.findIndex((view) => !view.isActive);
  if (absent < 0) return;
  const remedy = 'Agents may leave, but not join or return within an episode.';
  findings.add('activity', 'isActive', 'everyone to play from the start', `${game.agents[absent]} is inactive`, remedy);
}

function checkElapsed(probe: Probe, expected: number): void {
  const elapsed = probe.elapsed();
  if (elapsed === expected) return;
  probe.findings.add(
    'elapsed',
    'elapsed',
    `${expected} steps`,
    String(elapsed),
    'Set it to 0 in reset(), add 1 in step().',
  );
}

/** An episode is over when every agent has ended or was cut; a cut ends it for all. */
function isOver({ findings, game }: Probe, { terminated, truncated }: Outcome): boolean {
  const playing = game.agents.filter((_, agent) => terminated[agent] !== 1 && truncated[agent] !== 1);
  if (playing.length > 0 && truncated.includes(1)) {
    const got = `${playing.join(', ')} still playing after others were truncated`;
    const remedy = 'Truncate all active agents in the same step; use terminated for agents that leave alone.';
    findings.add('ending', 'step: truncated', 'a time limit to end the episode for all', got, remedy);
  }
  return playing.length === 0;
}
