import type { PageBeliefs } from './data';
import type { ReportExtras } from './extras';
import { escapeHtml } from './html';
import { packFloats } from './pack';
import { section } from './sections';
import { subsample } from './subsample';

const MOST_POINTS = 500;

/** Belief traces of all runs that have some, for the page. */
export function beliefPanels(extras: readonly ReportExtras[], names: readonly string[]): PageBeliefs[] {
  return extras.flatMap(({ beliefs = {} }, run) =>
    Object.entries(beliefs).map(([title, lines]) => ({
      title: extras.length > 1 ? `${names[run]}: ${title}` : title,
      lines: Object.entries(lines).map(([label, { steps, belief, switches = [] }]) => {
        const places = subsample(belief, MOST_POINTS);
        return {
          label,
          x: packFloats(places.map((place) => steps[place])),
          y: packFloats(places.map((place) => belief[place])),
          switches,
        };
      }),
    })),
  );
}

/** A panel for each trace, filled by the page's script. */
export function beliefsSection(beliefs: readonly PageBeliefs[]): string {
  if (beliefs.length === 0) return '';
  const panels = beliefs.map(
    ({ title }, i) =>
      `<article class="panel" data-beliefs="${i}"><h4>${escapeHtml(title)}</h4><p>Probability from 0 to 1 by step; dashed uprights: the co-player changed its behaviour.</p><div class="chart"></div></article>`,
  );
  return section('beliefs', 'Beliefs about others', `<div class="panels">${panels.join('\n')}</div>`);
}
