import { loadavg } from 'node:os';
import { type Context, type Experiment, timeInTurns } from './harness';
import { type BenchNetworks, benchNetworks } from './mcts/networks';
import { GAME, MODES, type Mode, ourSearch, TREES } from './mcts/ours';
import { findPeers, type Peer } from './mcts/peers';

/** Everything found at one number of environments. */
interface Found {
  readonly envs: number;
  /** Simulations per second by name. */
  readonly speeds: Figures;
  /** For each of ours, microseconds of a simulation by part, and the networks' queries. */
  readonly split: Readonly<Record<string, Figures>>;
  readonly shares: Readonly<Record<string, Figures>>;
}

type Figures = Readonly<Record<string, number>>;

/** How fast is the tree search, with its networks? */
export const bench: Experiment = {
  name: 'mcts',
  description: `tree search: 4 agents x ${TREES} trees in MSH 8x8, networks of HOP; simulations per second, compared with mctx and PyTorch`,
  minutes: 13,
  seeds: 1,
  options: {
    simulations: { what: 'simulations of each tree', default: '200' },
    envs: { what: 'numbers of environments, with commas', default: '1,64' },
    rounds: { what: 'turns of each at 1 environment; a third of them at more', default: '9' },
  },
  bars: {
    one_row_by_mctx_1: { what: 'one row: simulations/s relative to mctx, 20 roots', atLeast: 1 },
    one_row_by_mctx_64: { what: 'one row: simulations/s relative to mctx, 1,280 roots', atLeast: 1 },
    one_row_by_torch: {
      what: 'one row: simulations/s relative to one tree at a time in PyTorch, the worst',
      atLeast: 4,
    },
    four_rows_by_networks: {
      what: 'four rows: share of the speed that the networks alone allow, the worst',
      atLeast: 0.5,
    },
  },
  async run(context) {
    const [load] = loadavg();
    if (load > 1) context.say(`The machine is busy (load ${load.toFixed(1)}): ratios mean little now.`);
    const simulations = context.isQuick ? 20 : Number(context.options['simulations']);
    const counts = context.isQuick ? [1] : context.options['envs'].split(',').map(Number);
    const peers = findPeers(context, simulations);
    const found: Found[] = [];
    // Large networks take seconds to initialise, and the peers' networks are large.
    const isSmall = context.isQuick && peers.length === 0;
    const networks = await benchNetworks(GAME, isSmall ? 64 : 512);
    const [trained, fixed] = [networks(false), networks(true)];
    const networksOf = ({ isFixed }: Mode) => (isFixed ? fixed : trained);
    for (const envs of counts) found.push(await measure(context, envs, simulations, networksOf, peers));
    for (const { end } of peers) end();
    trained.dispose();
    fixed.dispose();
    const ratio = ({ speeds }: Found, other: string) => (speeds[other] ? speeds[MODES[0].name] / speeds[other] : null);
    const at = (envs: number) => found.find((one) => one.envs === envs);
    const worst = (values: (number | null)[]) =>
      values.some((value) => value === null) ? null : Math.min(...(values as number[]));
    return {
      figures: { loadBefore: load, simulations, found },
      bars: {
        one_row_by_mctx_1: at(1) ? ratio(at(1)!, 'mctx') : null,
        one_row_by_mctx_64: at(64) ? ratio(at(64)!, 'mctx') : null,
        one_row_by_torch: worst(found.map((one) => ratio(one, 'PyTorch'))),
        four_rows_by_networks: Math.min(...found.map(({ speeds }) => speeds[FULL.name] / speeds[networksOnly(FULL)])),
      },
    };
  },
};

/** The full search of HOP, nothing shared. */
const FULL = MODES[3];

const networksOnly = ({ name }: Mode) => `${name}: networks only`;

async function measure(
  context: Context,
  envs: number,
  simulations: number,
  networksOf: (mode: Mode) => BenchNetworks,
  peers: readonly Peer[],
): Promise<Found> {
  context.say(`${envs} environments`);
  const searches = MODES.map((mode) => ({ mode, search: ourSearch(mode, networksOf(mode), envs, simulations) }));
  const trees = envs * 4 * TREES;
  const units = trees * simulations;
  const rounds = context.isQuick ? 1 : Math.ceil(Number(context.options['rounds']) / (envs > 1 ? 3 : 1));
  const timings = await timeInTurns(
    [
      ...searches.map(({ mode, search }) => ({ name: mode.name, units, run: () => search.run() })),
      ...searches
        .filter(({ mode }) => !mode.share)
        .map(({ mode, search }) => ({ name: networksOnly(mode), units, run: () => search.runNetworks() })),
      ...peers.map(({ name, most, run }) => {
        const count = Math.min(trees, most);
        return { name, units: count * simulations, run: () => run(count) };
      }),
    ],
    rounds,
  );
  const found = {
    envs,
    speeds: Object.fromEntries(timings.map(({ name, perSecond }) => [name, perSecond])),
    split: Object.fromEntries(searches.map(({ mode, search }) => [mode.name, search.split()])),
    shares: Object.fromEntries(searches.map(({ mode, search }) => [mode.name, search.shares()])),
  };
  context.table(
    `Simulations per second, ${envs} environments (${trees} trees)`,
    timings.map(({ name, perSecond, perSecondQuartiles: [slow, fast] }) => ({
      search: name,
      'simulations/s': Math.round(perSecond),
      quartiles: `${Math.round(slow)} to ${Math.round(fast)}`,
    })),
  );
  context.table(`Microseconds of a simulation by part, ${envs} environments (last run)`, byMode(found.split));
  context.table(`Rows for the networks, ${envs} environments`, byMode(found.shares));
  return found;
}

/** A row for each of ours, with three digits. */
function byMode(figures: Readonly<Record<string, Figures>>) {
  const short = (figure: number) => Number(figure.toPrecision(3));
  return Object.entries(figures).map(([search, parts]) => {
    return { search, ...Object.fromEntries(Object.entries(parts).map(([name, figure]) => [name, short(figure)])) };
  });
}
