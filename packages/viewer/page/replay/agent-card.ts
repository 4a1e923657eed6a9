import { actionText, agentColor, type Recording } from '@coplay/envs';
import { html, setText } from '../dom';
import { type BarCell, barCell, shortNumber } from './bars';
import { observationView } from './observation';
import type { View } from './view';

/** One agent's action, reward, expectation and beliefs in a moment. */
export function agentCard(recording: Recording, seat: number): View {
  const { agents, players, steps } = recording;
  const { fill, ink } = agentColor(seat);
  const badge = html('span', { class: 'badge' }, String(seat + 1));
  badge.style.background = fill;
  badge.style.color = ink;
  const doing = html('p', { class: 'doing' });
  const parts = [policyTable(recording, seat), beliefTable(recording, seat), observationView(recording, seat)].filter(
    (part) => part !== undefined,
  );
  const heading = html('h3', {}, badge, ` ${agents[seat]} `, html('span', { class: 'player' }, players[seat]));
  const element = html('article', { class: 'agent' }, heading, doing, ...parts.map((part) => part.element));
  const returns = returnsOf(recording, seat);
  return {
    element,
    show(moment) {
      const earned = moment > 0 ? `earned ${shortNumber(steps[moment - 1].rewards[seat])}, ` : '';
      const value = steps[moment]?.insights?.[seat]?.value;
      const expects = value === undefined ? '' : `, expects ${shortNumber(value)}`;
      setText(doing, `${actionAt(recording, moment, seat)}; ${earned}return ${shortNumber(returns[moment])}${expects}`);
      for (const part of parts) part.show(moment);
    },
  };
}

/** An agent's next action: `up`; `torque -1.25`; `has left`, `the end` */
export function actionAt(recording: Recording, moment: number, seat: number): string {
  const { steps } = recording;
  if (moment >= steps.length) return 'the end';
  const action = steps[moment].actions[seat];
  return action === null ? 'has left' : actionText(recording, action);
}

/** What a policy has probabilities of: the options of each choice of an agent, of which `value` says the chosen one. */
function optionsOf({ actionNames, spaces }: Recording, seat: number) {
  const space = spaces ? spaces[seat] : actionNames.length;
  const several = typeof space === 'object' && space.kind === 'multi-discrete' ? space.counts : [];
  const counts = typeof space === 'number' ? [space] : several; // a box has none
  return counts.flatMap((count, value) =>
    Array.from({ length: count }, (_, option) => {
      const name = spaces
        ? [...(counts.length > 1 ? [actionNames[value]] : []), option].join(' ')
        : actionNames[option];
      return { name, value, option };
    }),
  );
}

/** [T + 1] the return before each moment. */
function returnsOf({ steps }: Recording, seat: number): number[] {
  const sums = [0];
  for (const { rewards } of steps) sums.push(sums[sums.length - 1] + rewards[seat]);
  return sums;
}

/** Probabilities and visits of the actions; undefined where this agent told none. */
function policyTable(recording: Recording, seat: number): View | undefined {
  const told = recording.steps.map(({ insights }) => insights?.[seat]);
  const hasPolicy = told.some((insight) => insight?.policy);
  const hasVisits = told.some((insight) => insight?.visits);
  if (!hasPolicy && !hasVisits) return undefined;
  const rows = optionsOf(recording, seat).map(({ name, value, option }) => {
    const [policy, visits] = [barCell(), barCell()];
    const mark = html('span', { class: 'mark' });
    const cells = [...(hasPolicy ? [policy.element] : []), ...(hasVisits ? [visits.element] : [])];
    const element = html('tr', {}, html('th', { scope: 'row' }, mark, name), ...cells);
    return { policy, visits, mark, value, option, element };
  });
  const heads = ['action', ...(hasPolicy ? ['probability'] : []), ...(hasVisits ? ['visits'] : [])];
  return {
    element: table('Choice', heads, rows),
    show(moment) {
      const insight = told[moment];
      const most = Math.max(1, ...(insight?.visits ?? []));
      rows.forEach(({ policy, visits, mark, value, option, element }, place) => {
        policy.set(insight?.policy?.[place]);
        const count = insight?.visits?.[place];
        visits.set(count === undefined ? undefined : count / most, count === undefined ? '' : String(count));
        const action = recording.steps[moment]?.actions[seat] ?? null;
        const isChosen = (typeof action === 'object' ? action?.[value] : action) === option;
        setText(mark, isChosen ? '▶ ' : '');
        element.classList.toggle('chosen', isChosen);
      });
    },
  };
}

/** Beliefs about each co-player; undefined where this agent told none. */
function beliefTable({ steps, agents, goals = [] }: Recording, seat: number): View | undefined {
  const told = steps.map(({ insights }) => insights?.[seat]?.beliefs);
  if (!told.some((beliefs) => beliefs)) return undefined;
  const rows = agents.flatMap((id, other) => {
    if (other === seat) return [];
    const cells: BarCell[] = goals.map(barCell);
    const element = html('tr', {}, html('th', { scope: 'row' }, `${other + 1} ${id}`), ...cells.map((c) => c.element));
    return [{ id, cells, element }];
  });
  return {
    element: table('Believes that', ['co-player', ...goals], rows),
    show(moment) {
      for (const { id, cells } of rows) {
        cells.forEach((cell, goal) => {
          cell.set(told[moment]?.[id]?.[goal]);
        });
      }
    },
  };
}

function table(
  caption: string,
  heads: readonly string[],
  rows: readonly { readonly element: HTMLElement }[],
): HTMLElement {
  return html(
    'table',
    {},
    html('caption', {}, caption),
    html('thead', {}, html('tr', {}, ...heads.map((head) => html('th', { scope: 'col' }, head)))),
    html('tbody', {}, ...rows.map(({ element }) => element)),
  );
}
