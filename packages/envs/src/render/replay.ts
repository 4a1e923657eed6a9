import { actionText, checkRecording, type RecordedStep, type Recording } from '../recordings';
import { cellWidth, checkTextOptions, paint, sceneLines, type TextOptions, visibleLength } from './text';

/**
 * A recorded episode as text: each moment's picture next to all agents' actions and rewards, and the returns below.
 *
 * @returns lines joined by line ends
 */
export function renderReplay(recording: Recording, options: TextOptions = {}): string {
  checkRecording('renderReplay', recording);
  checkTextOptions('renderReplay', options);
  const { game, agents, players, frames, steps } = recording;
  const label = labels(recording, options);
  const heading = `${game}: ${agents.map((id, i) => `${label[i]} ${id} ${players[i]}`).join(', ')}`;
  // One width for all moments, so that the board stands still.
  const width = Math.max(1, ...frames.flatMap(({ scene }) => (scene ? [cellWidth(scene)] : [])));
  const moments = frames.map(({ scene }, t) => {
    const picture = scene ? sceneLines(scene, options, width) : [];
    const doings = t === 0 ? [] : doingLines(recording, steps[t - 1], label);
    return [t === 0 ? 'start' : `step ${t}`, ...sideBySide(picture, doings)].join('\n');
  });
  const ending = `${endOf(steps)} after ${steps.length} ${steps.length === 1 ? 'step' : 'steps'}`;
  return [heading, ...moments, [ending, ...returnLines(recording, label)].join('\n')].join('\n\n');
}

/** What agents are called on pictures: their numbers from 1. */
function labels({ agents }: Recording, options: TextOptions): string[] {
  const color = options?.color ?? false;
  return agents.map((_, i) => (color ? paint(String(i + 1), i) : String(i + 1)));
}

/** One line for each agent that played: `2 hunt stag  +5, leaves`. */
function doingLines(recording: Recording, step: RecordedStep, label: readonly string[]): string[] {
  const texts = step.actions.map((action) => (action === null ? '' : actionText(recording, action)));
  const names = recording.spaces ? texts : recording.actionNames;
  const width = Math.max(...names.map((name) => name.length));
  return step.actions.flatMap((action, i) => {
    if (action === null) return [];
    const earned = step.rewards[i] === 0 ? [] : [signed(step.rewards[i])];
    const result = [...earned, ...(step.terminated[i] ? ['leaves'] : [])].join(', ');
    return [`${label[i]} ${texts[i].padEnd(width)}  ${result}`.trimEnd()];
  });
}

/** Two blocks of lines next to each other. */
function sideBySide(left: readonly string[], right: readonly string[]): string[] {
  const width = Math.max(0, ...left.map(visibleLength));
  const gap = left.length > 0 ? 4 : 0;
  return Array.from({ length: Math.max(left.length, right.length) }, (_, i) => {
    const first = left[i] ?? '';
    const second = right[i] ?? '';
    return (first + ' '.repeat(width - visibleLength(first) + gap) + second).trimEnd();
  });
}

function endOf(steps: readonly RecordedStep[]): string {
  return steps.at(-1)?.truncated.includes(true) ? 'Time is up' : 'The end';
}

function returnLines({ agents, players, steps }: Recording, label: readonly string[]): string[] {
  return agents.map((id, i) => {
    const sum = steps.reduce((total, { rewards }) => total + rewards[i], 0);
    return `${label[i]} ${id} ${players[i]}: return ${rounded(sum)}`;
  });
}

function signed(reward: number): string {
  return reward > 0 ? `+${rounded(reward)}` : rounded(reward);
}

/** At most three decimals. */
function rounded(value: number): string {
  return String(Number(value.toFixed(3)));
}
