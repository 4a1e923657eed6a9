import type { Agent, Game, Metrics } from '@coplay/core';
import { median } from '@coplay/diagnostics';
import { stagHunt } from '@coplay/envs';
import { useBackend } from '@coplay/tensor';
import { ppoAgent, ppoPresets, selfPlay, sharedPpoAgents } from '@coplay/trainers';
import type { Experiment } from '../bench/harness';

/** Who shares weights with whom. */
type Weights = 'own' | 'shared';

/** How fast is the whole loop, and where does its time go? */
export const bench: Experiment = {
  name: 'ppo',
  description: 'stag hunt 4x4, 4 PPO agents: collected-and-learned environment steps per second, with the time split',
  minutes: 2,
  seeds: 1,
  options: { updates: { what: 'updates of each setting that are timed', default: '30' } },
  bars: {},
  async run(context) {
    const backend = await useBackend('auto');
    context.say(`eager tensors by ${backend.reason}`);
    const updates = context.isQuick ? 2 : Number(context.options['updates']);
    const game = stagHunt({ size: 4, agents: 4, stags: 1, hares: 4 });
    const runs = { own: makeRun(game, 'own'), shared: makeRun(game, 'shared') };
    // In turns, so that a busy moment of the machine meets both.
    for (let update = 1; update <= updates + 1; update++) {
      for (const { run, rollout } of Object.values(runs)) await run.train({ envSteps: update * rollout });
    }
    const rows = Object.entries(runs).map(([weights, { metrics }]) => split(weights, metrics.slice(1)));
    context.table('Environment steps per second (medians over updates), and the shares of time', rows);
    for (const { run } of Object.values(runs)) run.dispose();
    return { figures: { backend: backend.name, rows }, bars: {} };
  },
};

function makeRun(game: Game, weights: Weights) {
  const ppo = ppoPresets.stagHunt;
  const agents =
    weights === 'own' ? game.agents.map((id) => ppoAgent({ game, id, ppo })) : sharedPpoAgents({ game, ppo });
  const timed = timedAgents(agents);
  const metrics: Metrics[] = [];
  const log = {
    start: () => {},
    close: () => {},
    write: (entry: { metrics: Metrics }) =>
      void metrics.push({ ...entry.metrics, 'time/acting_seconds': timed.take() }),
  };
  const settings = { envs: 32, steps: 32 };
  const run = selfPlay({ game, agents: timed.agents, ...settings, seed: 1, log: [log] });
  return { run, metrics, rollout: settings.envs * settings.steps };
}

/** The same agents, with a stopwatch around `act`. */
function timedAgents(agents: readonly Agent<Float32Array>[]) {
  let seconds = 0;
  const timed = agents.map((agent) => {
    const act = agent.act.bind(agent);
    agent.act = async (...input) => {
      const start = performance.now();
      const output = await act(...input);
      seconds += (performance.now() - start) / 1000;
      return output;
    };
    return agent;
  });
  return {
    agents: timed,
    /** Seconds since the last call. */
    take: () => {
      const taken = seconds;
      seconds = 0;
      return taken;
    },
  };
}

/** Medians of rates and shares. The rest is logging and episode statistics. */
function split(weights: string, metrics: readonly Metrics[]) {
  const of = (figure: (m: Metrics) => number) => median(metrics.map(figure));
  const total = (m: Metrics) => 1024 / m['time/steps_per_second'];
  return {
    weights,
    'steps/s': of((m) => m['time/steps_per_second']),
    environment: of((m) => (m['time/collect_seconds'] - m['time/acting_seconds']) / total(m)),
    acting: of((m) => m['time/acting_seconds'] / total(m)),
    learning: of((m) => m['time/learn_seconds'] / total(m)),
    rest: of((m) => 1 - (m['time/collect_seconds'] + m['time/learn_seconds']) / total(m)),
  };
}
