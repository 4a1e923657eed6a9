import type { Packed, PageData, PageMetric, PageSeries } from '../src/report/data';

/** A curve on a chart. */
export interface Points {
  readonly x: ArrayLike<number>;
  readonly y: ArrayLike<number>;
}

/** A bold line with its interval, and the runs that it's the mean of. */
export interface Line extends Points {
  readonly label: string;
  readonly lower?: ArrayLike<number>;
  readonly upper?: ArrayLike<number>;
  readonly singles: readonly Points[];
  /** Uprights. */
  readonly marks?: readonly number[];
}

/** The controls' values. */
export interface View {
  readonly apart: boolean;
  readonly single: boolean;
  readonly log: boolean;
}

/** float32 out of base64 */
export function floats(packed: Packed): Float32Array {
  return new Float32Array(bytesOf(packed));
}

function bytesOf(packed: Packed): ArrayBuffer {
  return Uint8Array.from(atob(packed), (character) => character.charCodeAt(0)).buffer;
}

/** The lines of a metric: of each agent, or the mean over agents where that's logged. */
export function linesOf(metric: PageMetric, data: PageData, view: View): Line[] {
  const named = metric.series.filter(({ agent }) => agent !== '');
  const plain = metric.series.filter(({ agent }) => agent === '');
  const shown = named.length > 0 && (view.apart || plain.length === 0) ? named : plain;
  return shown.map((series) => ({
    label: labelOf(series, data, shown === named),
    x: floats(series.line.x),
    y: floats(series.line.y),
    ...(series.line.lower !== undefined &&
      series.line.upper !== undefined && { lower: floats(series.line.lower), upper: floats(series.line.upper) }),
    singles: view.single ? series.curves.map((curve) => singleOf(curve, data)) : [],
  }));
}

function labelOf({ group, agent }: PageSeries, { groups }: PageData, isApart: boolean): string {
  const setting = groups.length > 1 ? groups[group].label : '';
  const who = isApart ? agent : '';
  return [setting, who].filter((part) => part !== '').join(', ') || 'mean';
}

function singleOf({ run, at, values }: PageSeries['curves'][number], { runs }: PageData): Points {
  const places = new Uint16Array(bytesOf(at));
  return { x: Array.from(places, (place) => runs[run].steps[place]), y: floats(values) };
}
