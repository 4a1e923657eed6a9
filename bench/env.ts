import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createGenerator, type Game, type Generator, type VectorEnv, vectorEnv } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import { type Context, cpuClock, type Experiment, findPython, runPython, timeInTurns } from './harness';

/** E */
const ENVS = 256;
const PEERS = [
  { script: 'gym_stag_hunt_peer.py', modules: ['numpy', 'gym', 'pygame', 'cv2'] },
  { script: 'pettingzoo_peer.py', modules: ['pettingzoo', 'pygame'] },
  { script: 'jaxmarl_peer.py', modules: ['jax', 'jaxmarl'] },
];

/** How fast are the rules, on one core? Seconds are processor time, so that other work on the machine counts little. */
export const bench: Experiment = {
  name: 'env',
  description:
    'stag hunt 8x8 with obstacles, 4 agents, random legal actions, batch of 256: environment steps per second',
  minutes: 1,
  seeds: 1,
  options: { steps: { what: 'steps of the batch in one timed run; 35 hold one reset', default: '35' } },
  bars: {
    rules_steps_per_second: { what: 'environment steps per second without observations', atLeast: 2_000_000 },
    observed_steps_per_second: { what: 'environment steps per second with all four observations', atLeast: 800_000 },
    bytes_per_step: { what: 'bytes allocated per environment step', atMost: 1 },
  },
  async run(context) {
    // Many short runs: other work on the machine then affects few of them, and not the median.
    const steps = Number(context.options['steps']);
    const rounds = context.isQuick ? 20 : 800;
    const game = stagHunt({ size: 8, agents: 4 });
    const rulesOnly = randomPlay(game, false);
    const observed = randomPlay(game, true);
    const units = steps * ENVS;
    // A long first run, so that the compiler of the JavaScript engine is done with all of it.
    for (const play of [rulesOnly, observed]) play.run(context.isQuick ? 100 : 2000);

    const [rules, all] = await timeInTurns(
      [
        { name: 'rules and masks', units, run: () => rulesOnly.run(steps) },
        { name: 'with observations', units, run: () => observed.run(steps) },
      ],
      rounds,
      cpuClock,
    );
    const row = ({ name, perSecond, perSecondQuartiles: [slow, fast] }: typeof rules) => ({
      '': name,
      'environment steps/s': Math.round(perSecond),
      'agent steps/s': Math.round(perSecond * game.agents.length),
      quartiles: `${Math.round(slow)} to ${Math.round(fast)}`,
    });
    const peers = context.withPython ? await runPeers(context) : [];
    context.table('Steps per second of one core (medians)', [row(rules), row(all), ...peers]);

    const shares = await timeParts(game, observed, rounds, steps, all.milliseconds);
    context.table('Where the time of a step goes, with observations', shares);
    const bytes = heapGrowth(() => observed.run(1000)) / (1000 * ENVS);
    context.say(`heap: ${bytes.toFixed(3)} bytes per environment step`);
    return {
      figures: { rules, observed: all, shares, peers, bytesPerStep: bytes },
      bars: {
        rules_steps_per_second: rules.perSecond,
        observed_steps_per_second: all.perSecond,
        bytes_per_step: bytes,
      },
    };
  },
};

/** A batch that plays random legal actions. Choosing them is part of the time. */
interface RandomPlay {
  readonly env: VectorEnv;
  readonly actions: Int32Array;
  choose(): void;
  run(steps: number): void;
}

function randomPlay(game: Game, observe: boolean): RandomPlay {
  const env = vectorEnv(game, { envs: ENVS, seed: 1, observe });
  const generator = createGenerator(2);
  const actions = new Int32Array(ENVS * game.agents.length);
  const choose = () => chooseLegal(env.masks, game.actions, generator, actions);
  return {
    env,
    actions,
    choose,
    run(steps) {
      for (let step = 0; step < steps; step++) {
        choose();
        env.step(actions);
      }
    },
  };
}

/** Draws one of the (at most 7) legal actions of each row, uniformly to 7 digits. */
function chooseLegal(masks: Uint8Array, K: number, generator: Generator, actions: Int32Array): void {
  for (let row = 0; row < actions.length; row++) {
    let bits = 0;
    for (let action = 0; action < K; action++) bits |= masks[row * K + action] << action;
    const nth = ((generator.uint32() >>> 8) * LEGAL_COUNTS[bits]) >>> 24;
    actions[row] = LEGAL_ACTIONS[bits * 7 + nth];
  }
}

/** For each set of 7 bits: how many are set, and which. */
const LEGAL = Array.from({ length: 128 }, (_, bits) => [0, 1, 2, 3, 4, 5, 6].filter((action) => (bits >> action) & 1));
const LEGAL_COUNTS = Uint8Array.from(LEGAL, (actions) => actions.length);
const LEGAL_ACTIONS = Uint8Array.from(
  LEGAL.flatMap((actions) => [...actions, ...new Array<number>(7 - actions.length)]),
);

/** Times the parts of a step alone, on the states that a batch has come to; the rest of the whole is rules. */
async function timeParts(game: Game, { env, choose }: RandomPlay, rounds: number, steps: number, whole: number) {
  const agents = game.agents.length;
  const everyone = (look: (offset: number, agent: number, row: number) => void) => () => {
    for (let step = 0; step < steps; step++) {
      for (let e = 0; e < ENVS; e++) {
        for (let agent = 0; agent < agents; agent++) look(e * game.stateSize, agent, e * agents + agent);
      }
    }
  };
  const { states, masks, observations } = env;
  const units = steps * ENVS;
  const timings = await timeInTurns(
    [
      {
        name: 'masks',
        units,
        run: everyone((offset, agent, row) => game.legal(states, offset, agent, masks, row * game.actions)),
      },
      {
        name: 'observations',
        units,
        run: everyone((offset, agent, row) => game.observe(states, offset, agent, observations, row)),
      },
      { name: 'choosing actions', units, run: () => repeat(steps, choose) },
    ],
    rounds,
    cpuClock,
  );
  const parts = timings.map(({ name, milliseconds }) => ({ part: name, milliseconds }));
  const rest = parts.reduce((left, { milliseconds }) => left - milliseconds, whole);
  return [{ part: 'rules', milliseconds: rest }, ...parts].map(({ part, milliseconds }) => ({
    part,
    share: milliseconds / whole,
    'nanoseconds per environment step': (milliseconds * 1e6) / units,
  }));
}

function repeat(times: number, work: () => void): void {
  for (let i = 0; i < times; i++) work();
}

/** Bytes that some work allocates. */
function heapGrowth(work: () => void): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  work();
  collect();
  const before = process.memoryUsage().heapUsed;
  work();
  // Without a garbage collection: allocated and discarded memory counts too.
  return process.memoryUsage().heapUsed - before;
}

/** Times the peers in Python that are installed; says which are not. */
async function runPeers(context: Context) {
  const seconds = context.isQuick ? '0.5' : '4';
  const rows = [];
  for (const { script, modules } of PEERS) {
    const python = findPython(modules);
    if ('missing' in python) {
      context.say(`${script} skipped: ${python.missing}`);
      continue;
    }
    try {
      const path = fileURLToPath(new URL(`peers/${script}`, import.meta.url));
      const output = await runPython(python.command, [path, seconds]);
      rows.push(peerRow(JSON.parse(output.trim().split('\n').at(-1) ?? '')));
    } catch (error) {
      context.say(`${script} skipped: ${(error as Error).message}`);
    }
  }
  return rows;
}

function peerRow(peer: { name: string; agents: number; envStepsPerSecond: number; version: string }) {
  return {
    '': `${peer.name}, ${peer.version}`,
    'environment steps/s': Math.round(peer.envStepsPerSecond),
    'agent steps/s': Math.round(peer.envStepsPerSecond * peer.agents),
    quartiles: '',
  };
}
