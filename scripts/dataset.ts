/**
 * Data of rule-based players of the stag hunt, for offline training of world models and models of others:
 *
 *   npm run dataset -- --help
 *   npm run dataset -- world-model.npz                                   50,000 steps of a mixture of all three rules
 *   npm run dataset -- moa.npz --samples 107010 --count action --mixture nearest-stag=1,nearest-hare=1 --waits stay
 *
 * The file is an Experience of whole episodes: `loadExperience(path)` of @coplay/buffers reads it, numpy too.
 */
import { parseArgs } from 'node:util';
import { saveExperience } from '@coplay/buffers';
import { stagHunt } from '@coplay/envs';
import { type Mixture, PLAYERS, ruleData, type Waiting } from './lib/rule-data';

const HELP = `npm run dataset -- FILE.npz [options]

  --samples N     at least so many samples, in whole episodes (default 50000; the notes on models of others have 107010)
  --count WHAT    step: a sample is a step of the game; action: it's a step of one player on the map (default step)
  --mixture LIST  shares of the rules, drawn for each player and episode
                  (default nearest-stag=1,nearest-hare=1,random=1; Mixed(0.5) is nearest-stag=1,nearest-hare=1)
  --waits HOW     nearest-stag alone on the stag: hunt, stay, or both (drawn for each episode; default both)
  --seed N        another seed, other data (default 1)
  --size N        rows and columns (default 4); --agents N (4), --stags N (1), --hares N (4)

The file holds episodes [N, T, A]; the extra type [N, T, A] says which rule each player followed: ${PLAYERS.map((name, i) => `${i} ${name}`).join(', ')}.
`;

try {
  await main();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 2;
}

async function main(): Promise<void> {
  const text = (value: string) => ({ type: 'string', default: value }) as const;
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean', default: false },
      samples: text('50000'),
      count: text('step'),
      mixture: text('nearest-stag=1,nearest-hare=1,random=1'),
      waits: text('both'),
      seed: text('1'),
      size: text('4'),
      agents: text('4'),
      stags: text('1'),
      hares: text('4'),
    },
  });
  if (values.help || positionals.length !== 1) {
    console.log(HELP);
    if (!values.help) throw new Error('Name one file to write.');
    return;
  }
  const [size, agents, stags, hares] = [values.size, values.agents, values.stags, values.hares].map(Number);
  const game = stagHunt({ size, agents, stags, hares });
  const experience = await ruleData({
    game,
    mixture: readMixture(values.mixture),
    waits: oneOf('--waits', values.waits, ['hunt', 'stay', 'both']) as Waiting,
    samples: wholeNumber('--samples', values.samples, 1),
    count: oneOf('--count', values.count, ['step', 'action']) as 'step' | 'action',
    seed: wholeNumber('--seed', values.seed, 0),
  });
  await saveExperience(positionals[0], experience);
  const steps = experience.lengths.reduce((sum, length) => sum + length, 0);
  const actions = experience.active.reduce((sum, flag) => sum + flag, 0);
  console.log(
    `${positionals[0]}: ${experience.envs} episodes, ${steps} steps, ${actions} actions of players on the map`,
  );
}

function readMixture(list: string): Mixture {
  const shares = { 'nearest-stag': 0, 'nearest-hare': 0, random: 0 };
  for (const part of list.split(',')) {
    const [name, share] = part.split('=');
    const known = oneOf('--mixture', name, Object.keys(shares)) as keyof typeof shares;
    shares[known] = Number(share ?? 1);
    if (!(shares[known] >= 0 && Number.isFinite(shares[known])))
      throw new Error(`--mixture: expected a finite share of at least 0 for ${name}, got ${share}`);
  }
  const { 'nearest-stag': nearestStag, 'nearest-hare': nearestHare, random } = shares;
  if (nearestStag + nearestHare + random === 0) throw new Error(`--mixture: expected a share above 0, got ${list}`);
  return { nearestStag, nearestHare, random };
}

function oneOf(option: string, given: string, known: readonly string[]): string {
  if (!known.includes(given)) throw new Error(`${option}: expected one of ${known.join(', ')}, got ${given}`);
  return given;
}

function wholeNumber(option: string, given: string, least: number): number {
  const value = Number(given);
  if (!Number.isInteger(value) || value < least) {
    throw new Error(`${option}: expected a whole number of at least ${least}, got ${given}`);
  }
  return value;
}
