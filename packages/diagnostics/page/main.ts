import type { PageData } from '../src/report/data';
import { controls, refreshEvery } from './controls';
import { byId } from './dom';
import { floats, type Line, linesOf, type View } from './lines';
import { fillPanel } from './panel';

const data = JSON.parse(byId('coplay-data').textContent ?? '') as PageData;
const metrics = new Map(data.metrics.map((metric) => [metric.key, metric]));
const drawn = new Set<Element>();

const defaults: View = {
  apart: data.groups.length === 1,
  single: data.groups.every(({ runs }) => runs.length === 1),
  log: false,
};
const view = controls(defaults, () => {
  for (const panel of drawn) draw(panel as HTMLElement);
});

// Only visible charts are drawn: there may be hundreds of them.
const observer = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      observer.unobserve(target);
      drawn.add(target);
      draw(target as HTMLElement);
    }
  },
  { rootMargin: '400px' },
);
for (const panel of document.querySelectorAll('[data-metric], [data-beliefs]')) observer.observe(panel);
refreshEvery(data.refreshSeconds);

function draw(panel: HTMLElement): void {
  const place = panel.querySelector('.chart')!;
  const { metric, beliefs } = panel.dataset;
  if (beliefs !== undefined) {
    const { title, lines } = data.beliefs[Number(beliefs)];
    fillPanel(place, title, lines.map(beliefLine), false);
  } else if (metric !== undefined) {
    fillPanel(place, metric, linesOf(metrics.get(metric)!, data, view()), view().log);
  }
}

function beliefLine({ label, x, y, switches }: PageData['beliefs'][number]['lines'][number]): Line {
  return { label, x: floats(x), y: floats(y), singles: [], marks: switches };
}
