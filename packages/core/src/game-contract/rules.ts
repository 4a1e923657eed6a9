import { choicesOf } from '../action-spaces';
import { allocate } from '../arrays';
import { CoplayError } from '../errors';
import { checkObservations } from '../observations';
import type { DType } from '../typed-arrays';
import { firstDifference, MARK } from './guarded';
import type { Outcome, Probe, Sight } from './probe';

/** An agent's observation and legal actions. */
export interface View {
  readonly sight: Sight;
  readonly mask: readonly number[];
  readonly isActive: boolean;
}

/** Writes every agent's observation and mask of the present state, and checks them. */
export function inspect(probe: Probe): View[] {
  return probe.game.agents.map((_, agent) => {
    const isActive = probe.isActive(agent);
    const mask = probe.legal(agent);
    checkMask(probe, agent, mask, isActive);
    return { sight: checkedSight(probe, agent), mask, isActive };
  });
}

function checkMask(probe: Probe, agent: number, mask: readonly number[], isActive: boolean): void {
  const { findings, game } = probe;
  const who = game.agents[agent];
  const odd = mask.findIndex((byte) => byte !== 0 && byte !== 1);
  if (odd >= 0) {
    const got = `${mask[odd]} for action ${odd} of ${who}${mask[odd] === MARK ? ', which was there before' : ''}`;
    findings.add(
      'mask',
      'legal',
      `0 or 1 for each of the ${mask.length} actions`,
      got,
      'Write every byte of the mask.',
    );
    return;
  }
  const isFine = (count: number) => (isActive ? count >= 1 : count === 1);
  let start = 0;
  const legal = choicesOf(probe.layout.spaces[agent]).map((options) => {
    start += options;
    return mask.slice(start - options, start).filter((byte) => byte === 1).length;
  });
  const wrong = legal.findIndex((count) => !isFine(count));
  if (wrong < 0) return;
  const expected = isActive ? 'a legal action for an active agent' : 'exactly one legal action for an inactive agent';
  const remedy = isActive
    ? 'Always allow something, such as staying.'
    : 'Allow one action, such as staying. If the agent still plays, isActive() should be true here: a time limit ends no agent.';
  const which = legal.length > 1 ? ` in choice ${wrong}` : '';
  findings.add('mask', 'legal', expected, `${legal[wrong]} for ${who}${which}`, remedy);
}

/** The agent's observation; a finding where it isn't fully written, depends on more than the state, or doesn't fit. */
function checkedSight(probe: Probe, agent: number): Sight {
  const { findings, game } = probe;
  const who = game.agents[agent];
  const sight = probe.observe(agent);
  const again = probe.observe(agent, 42);
  const wide = probe.observe(agent, MARK, true);
  for (const [name, { dtype }] of Object.entries(game.observation)) {
    const place = `observe: ${name}`;
    const index = firstDifference(sight[name], again[name]);
    if (index >= 0) {
      const got = `${sight[name][index]} and then ${again[name][index]} at index ${index} for ${who}`;
      const remedy = 'Write every value of the row, from the state alone.';
      findings.add('observation', place, 'the same values for any previous content of the row', got, remedy);
    }
    const unfit = wide[name].findIndex((value) => !fits(value, dtype));
    if (unfit >= 0) {
      const got = `${wide[name][unfit]} at index ${unfit} for ${who}`;
      findings.add('observation', place, `values that fit ${dtype}`, got, 'Scale the value, or change the dtype.');
    }
    checkKindOf(probe, who, name, sight[name]);
  }
  return sight;
}

/** Notes values that don't fit the declared kind of a field. */
function checkKindOf({ findings, game }: Probe, who: string, name: string, values: readonly number[]): void {
  const { kind } = game.observation[name];
  if (kind === undefined || kind === 'vector') return; // finite numbers were asked for above
  const check = {
    spec: game.observation,
    fields: [name],
    observations: { [name]: Float64Array.from(values) },
    rows: 1,
  };
  try {
    checkObservations('observe', check, () => who);
  } catch (error) {
    if (!(error instanceof CoplayError)) throw error;
    const { expected, got, remedy } = error.complaint;
    findings.add('observation', `observe: ${name}`, expected, got, remedy);
  }
}

function fits(value: number, dtype: DType): boolean {
  if (dtype === 'float32' || dtype === 'float64') return Number.isFinite(Math.fround(value));
  const cell = allocate(dtype, 1);
  cell[0] = value;
  return cell[0] === value;
}

/** Judges rewards, ends and infos of one step. */
export function checkOutcome(probe: Probe, outcome: Outcome, before: readonly boolean[]): void {
  const { findings, game } = probe;
  for (const [name, values] of Object.entries(outcome)) {
    const isFlag = name === 'terminated' || name === 'truncated';
    game.agents.forEach((who, agent) => {
      const value = values[agent];
      if (isFlag ? value === 0 || value === 1 : Number.isFinite(value)) return;
      const unwritten = isFlag ? value === MARK : Number.isNaN(value);
      const got = `${value} for ${who}${unwritten ? ' (or none was written)' : ''}`;
      const remedy = 'Write all entries of every result in every step.';
      findings.add('result', `step: ${name}`, isFlag ? '0 or 1' : 'a finite number', got, remedy);
    });
  }
  game.agents.forEach((who, agent) => {
    if (before[agent] || outcome['rewards'][agent] === 0) return;
    const got = `${outcome['rewards'][agent]} for ${who}`;
    findings.add('activity', 'step: rewards', 'reward 0 for an agent that has left', got, 'Pay active agents only.');
  });
}

/** Judges who goes on playing after a step. */
export function checkEnds(probe: Probe, outcome: Outcome, before: readonly boolean[], after: readonly boolean[]): void {
  const { findings, game } = probe;
  const { terminated, truncated } = outcome;
  game.agents.forEach((who, agent) => {
    const hasEnded = terminated[agent] === 1;
    const wasCut = truncated[agent] === 1;
    if (!before[agent] && after[agent]) {
      const remedy = 'Agents may leave, but not join or return within an episode.';
      findings.add('activity', 'isActive', 'an agent that has left to stay away', `${who} is back`, remedy);
    }
    if (!before[agent] && !hasEnded) {
      const expected = 'terminated to stay 1 once an agent has ended';
      findings.add(
        'activity',
        'step: terminated',
        expected,
        `${terminated[agent]} for ${who}`,
        'Write it cumulatively.',
      );
    }
    if (hasEnded && after[agent]) {
      const remedy = 'Let isActive() be false from the step on in which an agent ends.';
      findings.add('activity', 'isActive', 'a terminated agent to be inactive', `${who} is active`, remedy);
    }
    if (before[agent] && !after[agent] && !hasEnded && !wasCut) {
      const remedy = 'Write terminated 1 in the step in which an agent ends.';
      findings.add('result', 'step: terminated', 'a reason for leaving', `none for ${who}`, remedy);
    }
    if (wasCut && (hasEnded || !before[agent])) {
      const got = `${who}, who had ended`;
      findings.add('result', 'step: truncated', 'only agents that still played to be truncated', got, 'Write 0 there.');
    }
  });
}
