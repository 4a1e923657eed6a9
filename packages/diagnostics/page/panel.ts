import { type Chart, drawChart, lookOf } from './chart';
import { html, svg } from './dom';
import type { Line } from './lines';

/** Share of a chart's width that an arrow key moves the cursor. */
const KEY_STEP = 0.02;

/** Fills a panel's chart: curves, and a legend with the value of each at the cursor, or the last one. */
export function fillPanel(place: Element, name: string, lines: readonly Line[], isLog: boolean): void {
  const told = lines.map((line) => `${line.label} ${format(valueAt(line, Number.POSITIVE_INFINITY))}`).join(', ');
  const chart = drawChart(lines, `${name} by step, at the end: ${told}`, isLog);
  const values = lines.map((line) => html('span', {}, format(valueAt(line, Number.POSITIVE_INFINITY))));
  const items = lines.map((line, i) =>
    html(
      'li',
      {},
      svg('svg', { viewBox: '0 0 28 10', 'aria-hidden': 'true' }, svg('path', { ...lookOf(i), d: 'M0 5H28' })),
      ` ${line.label} `,
      values[i],
    ),
  );
  const step = html('li', { class: 'step' }, 'at the end');
  const legend = html('ul', { class: 'legend' }, ...items, step);
  place.replaceChildren(chart.element, legend);
  listen(chart, legend, (at) => {
    lines.forEach((line, i) => {
      values[i].textContent = format(valueAt(line, at ?? Number.POSITIVE_INFINITY));
    });
    step.textContent = at === undefined ? 'at the end' : `at step ${Math.round(at).toLocaleString('en')}`;
    chart.point(at);
  });
}

function listen(chart: Chart, legend: Element, show: (step: number | undefined) => void): void {
  const { element, steps } = chart;
  let at = steps[1];
  const move = (event: PointerEvent) => {
    const box = element.getBoundingClientRect();
    legend.removeAttribute('aria-live'); // a pointer passes over too many values to be read out
    at = chart.stepAt((event.clientX - box.left) / box.width);
    show(at);
  };
  element.addEventListener('pointermove', move);
  element.addEventListener('pointerdown', move);
  element.addEventListener('pointerleave', () => show(undefined));
  element.addEventListener('blur', () => show(undefined));
  element.addEventListener('keydown', (event) => {
    const span = steps[1] - steps[0];
    const targets: Record<string, number> = {
      ArrowLeft: at - KEY_STEP * span,
      ArrowRight: at + KEY_STEP * span,
      Home: steps[0],
      End: steps[1],
    };
    if (!(event.key in targets)) return;
    event.preventDefault();
    legend.setAttribute('aria-live', 'polite');
    at = Math.min(steps[1], Math.max(steps[0], targets[event.key]));
    show(at);
  });
}

/** The value at the point nearest to a step. */
function valueAt({ x, y }: Line, step: number): number {
  let best = x.length - 1;
  if (step === Number.POSITIVE_INFINITY) return y[best];
  for (let i = 0; i < x.length; i++) if (Math.abs(x[i] - step) < Math.abs(x[best] - step)) best = i;
  return y[best];
}

function format(value: number): string {
  if (!Number.isFinite(value)) return 'none';
  return value.toLocaleString('en', { maximumSignificantDigits: 4 });
}
