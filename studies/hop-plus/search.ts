import { bootstrap, mean } from '@coplay/diagnostics/statistics';
import type { HopPlusModules } from '@coplay/trainers';
import { type Context, stepsToReach } from '../../bench/harness';
import { stability } from '../hop/training';
import { type Line, reachRow, type SeedResult } from './training';

/** A board of the part `search`: its lines with and without a search, and the return that counts as learned. */
interface Board {
  readonly without: string;
  readonly withSearch: string;
  readonly level: number;
}

const BOARDS: Readonly<Record<'4h1s' | '4h2s', Board>> = {
  '4h1s': { without: 'HOP+ 4x4', withSearch: 'HOP+ 4x4, search', level: 2.75 },
  '4h2s': { without: 'HOP+ 4x4 4h2s', withSearch: 'HOP+ 4x4 4h2s, search', level: 4.5 },
};
const LONG = 'HOP+ 4x4, search, twice as long';

/** What the part `search` trains in addition to HOP+ on 4x4. */
export function searchLines(context: Context, small: Omit<Line, 'agents'>): Readonly<Record<string, Line>> {
  // A quick run ends before the world model is accurate.
  const agents: HopPlusModules = {
    treeSearch: context.isQuick ? { trees: 1, simulations: 2, minAccuracy: 0 } : {},
  };
  const long = context.seeds.slice(0, Number(context.options['long-seeds']));
  return {
    [BOARDS['4h1s'].withSearch]: { ...small, agents },
    [BOARDS['4h2s'].without]: { ...small, stags: 2, agents: {} },
    [BOARDS['4h2s'].withSearch]: { ...small, stags: 2, agents },
    [LONG]: { ...small, agents, envSteps: 2 * small.envSteps, seeds: long },
  };
}

type Results = Readonly<Record<string, readonly SeedResult[]>>;

/** The values of the bars of the part `search`, after its table; null where it wasn't run. */
export function reportSearch(context: Context, results: Results) {
  const rows = Object.values(BOARDS).flatMap(({ without, withSearch, level }) => {
    return [without, withSearch].flatMap((label) =>
      results[label]?.length ? [reachRow(label, results[label], level)] : [],
    );
  });
  const hasSearch = Object.values(BOARDS).some(({ withSearch }) => results[withSearch]?.length);
  if (hasSearch) context.table('HOP+ with and without tree search', rows);
  const long = results[LONG] ?? [];
  return {
    search_4h1s: advantage(results, BOARDS['4h1s']),
    search_4h2s: advantage(results, BOARDS['4h2s']),
    search_stable: long.length > 0 ? mean(long.map(({ curve }) => stability(curve))) : null,
  };
}

/**
 * The mean return with search less that without; 0 at least where the search takes fewer steps to the level, seed by
 * seed, by the whole 95 % interval. A run that never reaches the level counts with its length.
 */
function advantage(results: Results, { without, withSearch, level }: Board): number | null {
  const [plain, searching] = [results[without] ?? [], results[withSearch] ?? []];
  const count = Math.min(plain.length, searching.length);
  if (count === 0) return null;
  const stepsOf = ({ curve }: SeedResult) => Math.min(stepsToReach(curve, level), curve.steps.at(-1)!);
  const saved = Array.from({ length: count }, (_, i) => stepsOf(plain[i]) - stepsOf(searching[i]));
  const isFaster = bootstrap(saved).lower > 0;
  const gain = mean(searching.map(({ evaluated }) => evaluated)) - mean(plain.map(({ evaluated }) => evaluated));
  return isFaster ? Math.max(gain, 0) : gain;
}
