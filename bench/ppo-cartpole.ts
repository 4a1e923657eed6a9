import { fileURLToPath } from 'node:url';
import { median } from '@coplay/diagnostics/statistics';
import { cartPole } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { executorInfo } from '@coplay/tensor';
import { ppoAgent, ppoPresets, selfPlay } from '@coplay/trainers';
import {
  type Context,
  type Experiment,
  findPython,
  medianOrNever,
  orNever,
  recentEpisodes,
  runPython,
} from './harness';

/** How one contestant did with one seed. */
interface Trial {
  readonly name: string;
  readonly envSteps: number;
  /** Of all of them, from the first step on: what compiles while it runs is part of it. */
  readonly seconds: number;
  /** When the mean of the last 20 training episodes was 475, seen after each update; null if it never was. */
  readonly stepsToGoal: number | null;
  readonly secondsToGoal: number | null;
  /** The best such mean. */
  readonly best20: number | null;
  /** Of compiling before it runs, where that's apart from `seconds`. */
  readonly compileSeconds?: number;
}

/** A learner of CartPole-v1. */
interface Contestant {
  readonly key: string;
  train(seed: number): Promise<Trial>;
}

const GOAL = 475;

/** How fast is PPO on CartPole-v1, compared with others? */
export const bench: Experiment = {
  name: 'ppo-cartpole',
  description: 'PPO on CartPole-v1: steps per second, and seconds until the last 20 training episodes average 475',
  minutes: 12,
  seeds: 3,
  options: {
    steps: {
      what: "environment steps of each seed, for us and stable-baselines3 (RL Zoo's settings)",
      default: '100000',
    },
    'cleanrl-steps': {
      what: "environment steps of each seed with CleanRL's and PureJaxRL's settings",
      default: '500000',
    },
    'torch-threads': { what: 'threads of PyTorch; networks of this size are slower with more', default: '1' },
  },
  bars: {
    speed: {
      what: 'steps per second relative to stable-baselines3 with the same settings, medians over seeds',
      atLeast: 6,
    },
    wall_clock: { what: 'seconds to 475 relative to stable-baselines3, medians over seeds', atMost: 0.5 },
  },
  async run(context) {
    context.say((await executorInfo()).reason);
    const contestants = [ourselves(context), ...(context.withPython ? peers(context) : [])];
    const trials = await context.seedLoop('all', async (seed) => {
      const found: Record<string, Trial> = {};
      // One after the other for each seed, so that a busy hour of the machine meets all.
      for (const { key, train } of contestants) {
        try {
          found[key] = await train(seed);
        } catch (error) {
          context.say(`${key} is left out: ${(error as Error).message.split('\n')[0]}`);
        }
      }
      return found;
    });
    const of = (key: string) => trials.flatMap((found) => found[key] ?? []);
    const there = contestants.map(({ key }) => key).filter((key) => of(key).length > 0);
    context.table(
      'CartPole-v1, medians over seeds',
      there.map((key) => row(of(key))),
    );
    return {
      figures: { trials },
      bars: {
        speed: speedQuotient(of('ours'), of('stable-baselines3')),
        wall_clock: timeQuotient(of('ours'), of('stable-baselines3')),
      },
    };
  },
};

/** With the settings that {@link ppoPresets.cartPole} is for: 8 environments x 32 steps. */
function ourselves(context: Context): Contestant {
  const envSteps = context.isQuick ? 2048 : Number(context.options['steps']);
  return {
    key: 'ours',
    async train(seed) {
      const game = cartPole();
      const network = mlp({ hidden: [64, 64] });
      const agents = game.agents.map((id) => ppoAgent({ game, id, ppo: ppoPresets.cartPole, network }));
      const recent = recentEpisodes(20);
      let best20: number | null = null;
      let goal: { steps: number; seconds: number } | undefined;
      const start = performance.now();
      const elapsed = () => (performance.now() - start) / 1000;
      const run = selfPlay({
        game,
        agents,
        envs: 8,
        steps: 32,
        seed,
        onRollout: (experience, { envSteps: steps }) => {
          recent.add(experience);
          if (!recent.isFull()) return;
          best20 = Math.max(best20 ?? 0, recent.mean());
          if (recent.mean() >= GOAL) goal ??= { steps, seconds: elapsed() };
        },
      });
      await run.train({ envSteps });
      const trial = { name: "coplay, zoo's settings", envSteps: run.envSteps, seconds: elapsed(), best20 };
      run.dispose();
      return { ...trial, stepsToGoal: goal?.steps ?? null, secondsToGoal: goal?.seconds ?? null };
    },
  };
}

/** Peers in Python; a script that can't run says so when it's its turn. */
function peers({ options, peerFolders, isQuick }: Context): Contestant[] {
  const steps = isQuick ? '2048' : options['steps'];
  const longer = isQuick ? '2048' : options['cleanrl-steps'];
  const threads = options['torch-threads'];
  return [
    script('stable-baselines3', 'sb3_cartpole_peer.py', ['stable_baselines3'], [steps, threads]),
    script('cleanrl', 'cleanrl_cartpole_peer.py', ['torch', 'gymnasium'], [longer, threads]),
    ...peerFolders.map((folder) =>
      script(
        'purejaxrl',
        'purejaxrl_cartpole_peer.py',
        ['jax', 'gymnax', 'flax', 'distrax', 'optax'],
        [longer, folder],
      ),
    ),
  ];
}

function script(key: string, file: string, modules: readonly string[], args: readonly string[]): Contestant {
  return {
    key,
    async train(seed) {
      const python = findPython(modules);
      if ('missing' in python) throw new Error(python.missing);
      const path = fileURLToPath(new URL(`peers/${file}`, import.meta.url));
      const output = await runPython(python.command, [path, String(seed), ...args]);
      return JSON.parse(output.trim().split('\n').at(-1) ?? '') as Trial;
    },
  };
}

function stepsPerSecond({ envSteps, seconds }: Trial): number {
  return envSteps / seconds;
}

function speedQuotient(ours: readonly Trial[], theirs: readonly Trial[]): number | null {
  if (ours.length === 0 || theirs.length === 0) return null;
  return median(ours.map(stepsPerSecond)) / median(theirs.map(stepsPerSecond));
}

/** 0 where only we reached the goal, infinite where only they did, NaN where neither did: the last two hold no bar. */
function timeQuotient(ours: readonly Trial[], theirs: readonly Trial[]): number | null {
  if (ours.length === 0 || theirs.length === 0) return null;
  const [mine, other] = [ours, theirs].map(
    (trials) => medianOrNever(trials.map(({ secondsToGoal }) => secondsToGoal)) ?? Infinity,
  );
  return mine / other;
}

function row(trials: readonly Trial[]) {
  const times = trials.map(({ secondsToGoal }) => secondsToGoal);
  const compiling = trials.flatMap(({ compileSeconds }) => compileSeconds ?? []);
  return {
    '': trials[0].name,
    'steps/s': Math.round(median(trials.map(stepsPerSecond))),
    'seconds to 475': orNever(medianOrNever(times)),
    'of seeds': times.map(orNever).join(', '),
    'steps to 475, of seeds': trials.map(({ stepsToGoal }) => stepsToGoal ?? 'never').join(', '),
    'best 20 episodes, worst seed': Math.min(...trials.map(({ best20 }) => best20 ?? 0)),
    'seconds of compiling before': compiling.length > 0 ? median(compiling) : null,
  };
}
