import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { createGenerator, vectorEnv } from '@coplay/core';
import { median } from '@coplay/diagnostics/statistics';
import { gymnasium, type PythonGame, pettingZoo } from '@coplay/python';
import { type Context, type Experiment, findPython, runPython } from './harness';

/** E */
const ENVS = 16;
const PEER = fileURLToPath(new URL('peers/bridge_peer.py', import.meta.url));

/** A game, and the peers that play it in Python alone. */
interface Case {
  readonly title: string;
  readonly modules: readonly string[];
  /** Arguments of the peers before and after the seconds */
  readonly peers: readonly (readonly [before: string, ...after: string[]])[];
  make(python: string): PythonGame<never>;
}

const CASES: Readonly<Record<'gymnasium' | 'pettingzoo', Case>> = {
  gymnasium: {
    title: 'Pendulum-v1 of Gymnasium',
    modules: ['numpy', 'gymnasium'],
    peers: [['gymnasium']],
    make: (python) => gymnasium('Pendulum-v1', { python, envs: ENVS }),
  },
  pettingzoo: {
    title: 'simple_spread_v3 of MPE2',
    modules: ['numpy', 'pettingzoo', 'mpe2'],
    peers: [
      ['pettingzoo', String(availableParallelism())],
      ['pettingzoo', String(ENVS)],
    ],
    make: (python) => pettingZoo('mpe2.simple_spread_v3', { python, envs: ENVS }),
  },
};

/** How fast do Python's environments play here? In turns with vector environments in Python alone. */
export const bench: Experiment = {
  name: 'bridge',
  description: '16 environments of Python played from here, random actions: environment steps per second',
  minutes: 3,
  seeds: 1,
  options: { seconds: { what: 'seconds of each measurement', default: '5' } },
  bars: {
    gymnasium_ratio: { what: "steps per second relative to Gymnasium's AsyncVectorEnv", atLeast: 0.8 },
    pettingzoo_ratio: { what: 'steps per second relative to the faster plain loop over processes', atLeast: 0.8 },
  },
  async run(context) {
    const [gym, zoo] = [await compare(context, CASES.gymnasium), await compare(context, CASES.pettingzoo)];
    return {
      figures: { gymnasium: gym, pettingzoo: zoo },
      bars: { gymnasium_ratio: gym?.ratio ?? null, pettingzoo_ratio: zoo?.ratio ?? null },
    };
  },
};

/** Ours and the peers in turns; the ratio of ours to the fastest peer. */
async function compare(context: Context, { title, modules, peers, make }: Case) {
  const python = findPython(modules);
  if ('missing' in python) {
    context.say(`${title} left out: ${python.missing}`);
    return undefined;
  }
  const seconds = context.isQuick ? 0.3 : Number(context.options['seconds']);
  const game = make(python.command);
  const ours: number[] = [];
  const theirs = peers.map(() => ({ name: '', version: '', rates: [] as number[] }));
  for (let round = 0; round < (context.isQuick ? 1 : 5); round++) {
    ours.push(played(game, seconds));
    for (const [i, [before, ...after]] of peers.entries()) {
      const output = await runPython(python.command, [PEER, before, String(seconds), ...after]);
      const found = JSON.parse(output.trim().split('\n').at(-1) ?? '') as PeerResult;
      theirs[i] = { ...theirs[i], name: found.name, version: found.version };
      theirs[i].rates.push(found.perSecond);
    }
    context.say(`${title}, round ${round + 1}`);
  }
  game.close();
  const row = (name: string, rates: readonly number[]) => ({
    '': name,
    'environment steps/s': Math.round(median(rates)),
    range: `${Math.round(Math.min(...rates))} to ${Math.round(Math.max(...rates))}`,
  });
  context.table(`${title}: ${ENVS} environments`, [
    row(`Coplay, ${availableParallelism()} processes`, ours),
    ...theirs.map(({ name, version, rates }) => row(`${name}, ${version}`, rates)),
  ]);
  const fastest = Math.max(...theirs.map(({ rates }) => median(rates)));
  return { ours, theirs, ratio: median(ours) / fastest };
}

interface PeerResult {
  readonly name: string;
  readonly version: string;
  readonly perSecond: number;
}

/** Environment steps per second, after a start that doesn't count. */
function played(game: PythonGame<never>, seconds: number): number {
  const env = vectorEnv(game, { envs: ENVS, seed: 1 });
  const generator = createGenerator(1);
  const actions = (env.previousActions as Int32Array | Float32Array).slice();
  const count = typeof game.actions === 'number' ? (game.actions as number) : undefined;
  const step = () => {
    for (let i = 0; i < actions.length; i++) {
      actions[i] = count === undefined ? generator.uniform() * 4 - 2 : generator.integer(count);
    }
    env.step(actions as never);
  };
  for (let i = 0; i < 20; i++) step();
  const start = performance.now();
  let steps = 0;
  for (; performance.now() - start < seconds * 1000; steps += ENVS) step();
  const rate = (steps * 1000) / (performance.now() - start);
  env.close?.();
  return rate;
}
