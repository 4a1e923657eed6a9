import { fileURLToPath } from 'node:url';
import { type AnyGame, createGenerator, vectorEnv } from '@coplay/core';
import { actionLayout } from '@coplay/core/arrays';
import { levelForaging, overcooked, simpleSpeakerListener, simpleSpread, simpleTag } from '@coplay/envs';
import { type Context, cpuClock, type Experiment, findPython, runPython, timeInTurns } from './harness';

/** E */
const ENVS = 256;

/** Our games, and the peers that play the same one: names of `peers/standard_games_peer.py`. */
const SUBJECTS: readonly { readonly name: string; readonly game: AnyGame; readonly peers: readonly string[] }[] = [
  {
    name: 'simple_spread',
    game: simpleSpread(),
    peers: ['mpe2 simple_spread', 'jaxmarl simple_spread'],
  },
  {
    name: 'simple_spread, continuous',
    game: simpleSpread({ continuousActions: true }),
    peers: ['mpe2 simple_spread, continuous'],
  },
  { name: 'simple_tag', game: simpleTag(), peers: ['mpe2 simple_tag', 'jaxmarl simple_tag'] },
  {
    name: 'simple_speaker_listener',
    game: simpleSpeakerListener(),
    peers: ['mpe2 simple_speaker_listener', 'jaxmarl simple_speaker_listener'],
  },
  { name: 'level-based foraging 8x8', game: levelForaging(), peers: ['lbforaging 8x8'] },
  {
    name: 'overcooked, cramped room',
    game: overcooked({ autoCook: true }),
    peers: ['overcooked-ai cramped_room', 'jaxmarl overcooked'],
  },
];

/** How fast are the standard games next to the public ones, on one core? Seconds are processor time. */
export const bench: Experiment = {
  name: 'games',
  description:
    'multi-particle worlds, level-based foraging and Overcooked next to the public packages: steps per second',
  minutes: 4,
  seeds: 1,
  options: { steps: { what: 'steps of the batch of 256 in one timed run', default: '50' } },
  bars: {
    spread_by_mpe2: { what: 'simple_spread: our steps per second, divided by those of mpe2', atLeast: 20 },
    spread_continuous_by_mpe2: { what: 'the same with continuous actions', atLeast: 20 },
    tag_by_mpe2: { what: 'simple_tag, by those of mpe2', atLeast: 20 },
    speaker_listener_by_mpe2: { what: 'simple_speaker_listener, by those of mpe2', atLeast: 20 },
    spread_by_jaxmarl: { what: 'simple_spread, by those of JaxMARL', atLeast: 1 },
    tag_by_jaxmarl: { what: 'simple_tag, by those of JaxMARL', atLeast: 1 },
    speaker_listener_by_jaxmarl: { what: 'simple_speaker_listener, by those of JaxMARL', atLeast: 1 },
    overcooked_by_jaxmarl: { what: 'Overcooked, by those of JaxMARL', atLeast: 1 },
  },
  async run(context) {
    const steps = Number(context.options['steps']);
    const contestants = SUBJECTS.map(({ name, game }) => ({ name, units: steps * ENVS, run: randomPlay(game, steps) }));
    // A long first run, so that the compiler of the JavaScript engine is done with all of it.
    for (const { run } of contestants) for (let i = 0; i < (context.isQuick ? 2 : 40); i++) run();
    const ours = await timeInTurns(contestants, context.isQuick ? 3 : 60, cpuClock);
    const peers = context.withPython ? await runPeers(context) : {};
    const rows = SUBJECTS.flatMap(({ name, peers: named }, i) => {
      const {
        perSecond,
        perSecondQuartiles: [slow, fast],
      } = ours[i];
      const own = {
        game: name,
        by: 'Coplay',
        'steps/s': Math.round(perSecond),
        quartiles: `${Math.round(slow)} to ${Math.round(fast)}`,
      };
      return [
        { ...own, 'ours / theirs': '' },
        ...named.flatMap((peer) => {
          const found = peers[peer];
          if (!found) return [];
          const { speed, version } = found;
          const by = `${peer.split(' ')[0]} ${version}`;
          return [
            {
              game: name,
              by,
              'steps/s': Math.round(speed),
              quartiles: '',
              'ours / theirs': (perSecond / speed).toFixed(1),
            },
          ];
        }),
      ];
    });
    context.table('Environment steps per second of one core, with observations of all agents', rows);
    const ratio = (i: number, peer: string) => (peers[peer] ? ours[i].perSecond / peers[peer].speed : null);
    return {
      figures: {
        ours: ours.map(({ name, perSecond, perSecondQuartiles }) => ({ name, perSecond, perSecondQuartiles })),
        peers,
      },
      bars: {
        spread_by_mpe2: ratio(0, 'mpe2 simple_spread'),
        spread_continuous_by_mpe2: ratio(1, 'mpe2 simple_spread, continuous'),
        tag_by_mpe2: ratio(2, 'mpe2 simple_tag'),
        speaker_listener_by_mpe2: ratio(3, 'mpe2 simple_speaker_listener'),
        spread_by_jaxmarl: ratio(0, 'jaxmarl simple_spread'),
        tag_by_jaxmarl: ratio(2, 'jaxmarl simple_tag'),
        speaker_listener_by_jaxmarl: ratio(3, 'jaxmarl simple_speaker_listener'),
        overcooked_by_jaxmarl: ratio(5, 'jaxmarl overcooked'),
      },
    };
  },
};

/** Plays steps of a batch with random actions. Choosing them is part of the time. */
function randomPlay(game: AnyGame, steps: number): () => void {
  const env = vectorEnv(game, { envs: ENVS, seed: 1 });
  const generator = createGenerator(2);
  const A = game.agents.length;
  const { spaces, width, dtype } = actionLayout(game);
  if (dtype === 'float32') {
    const actions = new Float32Array(ENVS * A * width); // all of these boxes are from 0 to 1
    return () => {
      for (let step = 0; step < steps; step++) {
        for (let i = 0; i < actions.length; i++) actions[i] = (generator.uint32() >>> 8) * 2 ** -24;
        env.step(actions);
      }
    };
  }
  const actions = new Int32Array(ENVS * A);
  // The speaker has three words of five actions; illegal actions of other games are playable, as in the peers.
  const counts = Int32Array.from(spaces, (space, i) => (game.agents[i] === 'speaker_0' ? 3 : (space as number)));
  return () => {
    for (let step = 0; step < steps; step++) {
      for (let row = 0; row < actions.length; row++) {
        actions[row] = ((generator.uint32() >>> 8) * counts[row % A]) >>> 24;
      }
      env.step(actions);
    }
  };
}

type Speeds = Readonly<Record<string, { readonly speed: number; readonly version: string }>>;

/** Times the peers in Python that are installed; says which are not. */
async function runPeers(context: Context): Promise<Speeds> {
  const seconds = context.isQuick ? '0.3' : '4';
  const script = fileURLToPath(new URL('peers/standard_games_peer.py', import.meta.url));
  const modules: Readonly<Record<string, string[]>> = {
    mpe2: ['mpe2', 'pettingzoo'],
    lbforaging: ['lbforaging'],
    'overcooked-ai': ['overcooked_ai_py'],
    jaxmarl: ['jax', 'jaxmarl'],
  };
  const speeds: Record<string, { speed: number; version: string }> = {};
  for (const peer of SUBJECTS.flatMap(({ peers }) => peers)) {
    const python = findPython(modules[peer.split(' ')[0]]);
    if ('missing' in python) {
      context.say(`${peer} skipped: ${python.missing}`);
      continue;
    }
    try {
      const output = await runPython(python.command, [script, peer, seconds]);
      const { envStepsPerSecond, version } = JSON.parse(output.trim().split('\n').at(-1) ?? '');
      speeds[peer] = { speed: envStepsPerSecond, version };
      context.say(`${peer}: ${Math.round(envStepsPerSecond)} steps/s`);
    } catch (error) {
      context.say(`${peer} skipped: ${(error as Error).message}`);
    }
  }
  return speeds;
}
