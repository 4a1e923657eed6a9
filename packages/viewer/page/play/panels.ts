import type { Game } from '@coplay/core';
import { agentColor } from '@coplay/envs';
import type { DoneStep } from '../../src/play/table';
import { html } from '../dom';

/** Goals of one co-player that are shown, the most likely first. */
const GOALS = 3;

/** Who is at the table. */
export interface Company {
  readonly game: Game;
  /** [A] what plays in each seat */
  readonly players: readonly string[];
  /** The person's seat, from 0. */
  readonly seat: number;
}

/** A table of all agents: last action, its reward, and the return so far. */
export function playersTable(
  { game, players, seat }: Company,
  before: DoneStep | undefined,
  returns: readonly number[],
) {
  const rows = game.agents.map((id, i) => {
    const action = before?.actions[i];
    const did = action === undefined ? '' : action === null ? 'has left' : game.actionNames[action];
    const leaves = action !== null && before?.left[i] ? ', leaves' : '';
    return html(
      'tr',
      {},
      html('th', { scope: 'row' }, badge(i), ` ${i === seat ? 'you' : id}`),
      html('td', {}, players[i]),
      html('td', {}, `${did}${leaves}`),
      html('td', { class: 'number' }, before === undefined ? '' : rounded(before.rewards[i])),
      html('td', { class: 'number' }, rounded(returns[i])),
    );
  });
  const heads = ['Seat', 'Plays as', 'Last step', 'Reward', 'Total'].map((text, i) =>
    html('th', { scope: 'col', ...(i > 2 && { class: 'number' }) }, text),
  );
  return html('table', {}, html('thead', {}, html('tr', {}, ...heads)), html('tbody', {}, ...rows));
}

/** What may be believed of each co-player: the likeliest goals, as words, percents and bars. */
export function beliefsPanel({ game, players, seat }: Company, beliefs: Float64Array): HTMLElement[] {
  const names = game.goals?.names ?? [];
  return game.agents.flatMap((id, i) => {
    const own = beliefs.subarray(i * names.length, (i + 1) * names.length);
    if (i === seat) return [];
    const likely = [...own.keys()]
      .filter((goal) => own[goal] > 0)
      .sort((a, b) => own[b] - own[a])
      .slice(0, GOALS);
    const lines = likely.map((goal) => {
      const percent = Math.round(100 * own[goal]);
      const bar = html('i');
      bar.style.width = `${percent}%`;
      return html(
        'p',
        {},
        `${inWords(names[goal])} ${percent} %`,
        html('span', { class: 'track', 'aria-hidden': 'true' }, bar),
      );
    });
    const nothing = html('p', {}, 'no goal is left');
    return [
      html('div', {}, html('h3', {}, badge(i), ` ${id}, ${players[i]}`), ...(lines.length > 0 ? lines : [nothing])),
    ];
  });
}

/** `drift at 0, 1` as the picture's description counts: `drift in row 1, column 2`. */
function inWords(goal: string): string {
  return goal.replace(
    / at (\d+), (\d+)$/,
    (_, row, column) => ` in row ${Number(row) + 1}, column ${Number(column) + 1}`,
  );
}

/** At most two decimals. */
export function rounded(value: number): string {
  return String(Number(value.toFixed(2)));
}

function badge(seat: number): HTMLElement {
  const { fill, ink } = agentColor(seat);
  const element = html('span', { class: 'badge' }, String(seat + 1));
  element.style.background = fill;
  element.style.color = ink;
  return element;
}
