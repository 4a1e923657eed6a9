import { learningCurves, type TableRow } from '@coplay/diagnostics';
import { bootstrap, type Curve, type Estimate, smooth } from '@coplay/diagnostics/statistics';
import type { Context } from '../../bench/harness';
import { advantage, type Cell, type Found, levels, shareBehind } from './comparison';
import { KINDS, type KindName } from './kinds';
import { LINE_UPS, type LineUp } from './meeting';
import type { Reference, Trial } from './trial';

/** Episodes over which the figures smooth: a single one pays 0, 1 or 5. */
const WINDOW = 5;
/** Episodes in which adaptation is to have happened. */
export const SOON = 10;

/**
 * Tables and figures of everything that was found.
 *
 * @param cells  over all episodes
 * @param soon   over the first ones
 */
export async function report(
  context: Context,
  found: Found,
  references: readonly Reference[],
  cells: readonly Cell[],
  soon: readonly Cell[],
): Promise<void> {
  const names = Object.keys(found) as KindName[];
  context.table(
    'Who is compared',
    names.map((name) => summaryRow(name, found[name] as Trial[], cells, soon)),
  );
  context.table(
    'HOP less the better of PPO and direct-OM: lower end, share of the range from random to best',
    cells.map((cell) => ({
      'line-up': cell.lineUp,
      'co-players': cell.coPlayer,
      ...referenceColumns(references, cell),
      share: shareBehind(found, references, cell),
    })),
  );
  for (const lineUp of Object.keys(LINE_UPS) as LineUp[]) {
    const own = cells.filter((cell) => cell.lineUp === lineUp);
    const ownSoon = soon.filter((cell) => cell.lineUp === lineUp);
    const columns = (until?: number) =>
      tableOf(names, (name, cell) => bootstrap(levels(found[name] as Trial[], cell, until)));
    context.table(`Line-up ${lineUp}: mean return of focal agents over all episodes`, byCoPlayer(own, columns()));
    context.table(`Line-up ${lineUp}: over the first ${SOON} episodes`, byCoPlayer(ownSoon, columns(SOON)));
    const others = names.filter((name) => name !== 'hop');
    const more = tableOf(others, (name, cell) => advantage(found, name, cell));
    if (found.hop) context.table(`Line-up ${lineUp}: HOP's return less that of`, byCoPlayer(own, more));
    await drawLineUp(context, found, own, lineUp);
  }
}

/** What rules earn in the place of focal agents. */
function referenceColumns(references: readonly Reference[], cell: Cell): TableRow {
  const of = (name: keyof Reference) => {
    const trials = references.map((one) => ({ returns: one[name] }));
    return trials.length > 0 ? bootstrap(levels(trials, [cell])) : undefined;
  };
  return { Random: of('random'), NearestStag: of('stag'), NearestHare: of('hare') };
}

function summaryRow(name: KindName, trials: readonly Trial[], cells: readonly Cell[], soon: readonly Cell[]): TableRow {
  return {
    'focal agents': KINDS[name].label,
    seeds: trials.length,
    'among themselves': bootstrap(trials.map(({ selfPlay }) => selfPlay)),
    [`first ${SOON} episodes`]: bootstrap(levels(trials, soon, SOON)),
    'all episodes': bootstrap(levels(trials, cells)),
  };
}

/** A column for each kind. */
function tableOf(names: readonly KindName[], of: (name: KindName, cells: Cell[]) => Estimate | undefined) {
  return (cells: Cell[]): TableRow => Object.fromEntries(names.map((name) => [KINDS[name].label, of(name, cells)]));
}

function byCoPlayer(cells: readonly Cell[], columns: (cells: Cell[]) => TableRow): TableRow[] {
  const rows = cells.map((cell) => ({ 'co-players': cell.coPlayer, ...columns([cell]) }));
  return [...rows, { 'co-players': 'mean of all', ...columns([...cells]) }];
}

/** Return by episode: the mean over co-players, and each co-player apart. */
async function drawLineUp(context: Context, found: Found, cells: readonly Cell[], lineUp: LineUp): Promise<void> {
  const stem = lineUp.replaceAll(' ', '');
  await draw(context, found, cells, `${stem.replace('+', '-')}`, `Line-up ${lineUp}, mean over co-players`);
  for (const cell of cells) {
    const suffix = `${stem}-${cell.coPlayer}`
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replace(/-$/, '');
    await draw(context, found, [cell], suffix, `Line-up ${lineUp}, co-players: ${cell.coPlayer}`);
  }
}

async function draw(context: Context, found: Found, cells: readonly Cell[], suffix: string, title: string) {
  const curves = Object.entries(found).map(([name, trials]) => {
    return [KINDS[name as KindName].label, trials.map((trial) => curveOf(trial, cells))];
  });
  const labels = { title, x: 'episode with these co-players', y: `return of focal agents, mean of ${WINDOW} episodes` };
  await context.figure(suffix, await learningCurves(Object.fromEntries(curves), labels));
}

function curveOf({ returns }: Trial, cells: readonly Cell[]): Curve {
  const [first] = cells;
  const steps = returns[first.lineUp][first.coPlayer].map((_, episode) => episode + 1);
  const values = steps.map((step) => {
    return cells.reduce((sum, { lineUp, coPlayer }) => sum + returns[lineUp][coPlayer][step - 1] / cells.length, 0);
  });
  return smooth({ steps, values }, WINDOW);
}
