import {
  type Agent,
  createGenerator,
  evaluate,
  type Game,
  gameContract,
  parallelEnv,
  streamSeed,
  vectorEnv,
} from '@coplay/core';
import { randomAgent, recordEpisode, stagHunt } from '@coplay/envs';
import { type Learner, type LearningAgent, type SelfPlay, selfPlay } from '@coplay/trainers';
import { createTable } from '@coplay/viewer';
import { describe, expect, it } from 'vitest';

const rules = stagHunt({ size: 4, agents: 2, stags: 1, hares: 2, maxSteps: 6 });

/** What was drawn from: the states of every generator, game by game, agent by agent, learner by learner. */
class Watch {
  readonly seen = new Set<string>();
  readonly firstStates = new Set<string>();
  private readonly begun = new Set<string>();
  readonly game: Game<'int32'>;

  constructor() {
    this.game = {
      ...rules,
      reset: (state, offset, generator) => {
        this.note(generator.state());
        rules.reset(state, offset, generator);
        this.firstStates.add(state.slice(offset, offset + rules.stateSize).join());
      },
      step: (state, offset, actions, from, generator, result, row) => {
        this.note(generator.state());
        rules.step(state, offset, actions, from, generator, result, row);
      },
    };
  }

  private note(state: readonly number[]): void {
    this.seen.add(state.join());
  }

  /** Act at random, and learn nothing. */
  get agents(): LearningAgent[] {
    const learnerOf = (id: string): Learner => ({
      name: id,
      ids: [id],
      updates: 0,
      config: {},
      initialise: async (generator) => {
        if (!this.begun.has(id)) this.note(generator.state());
        this.begun.add(id);
      },
      update: ({ generator }) => {
        this.note(generator.state());
        return {};
      },
      state: () => ({}),
      restore: () => {},
      dispose: () => {},
    });
    return rules.agents.map((id) => {
      const agent = randomAgent({ game: rules, id }) as Agent;
      const act: Agent['act'] = (input, state, generator) => {
        this.note(generator.state());
        const drawn = agent.act(input, state, generator);
        generator.uint32(); // also where only one action is legal
        return drawn;
      };
      return { ...agent, act, learner: learnerOf(id) } as LearningAgent;
    });
  }
}

/** Everything that is given a seed, with its own default where there is none. */
const plays: Record<string, (watch: Watch, seed: number | undefined) => unknown> = {
  'selfPlay.train': ({ game, agents }, seed) =>
    selfPlay({ game, agents, envs: 16, steps: 8, ...(seed !== undefined && { seed }) }).train({ envSteps: 512 }),
  'selfPlay.evaluate': (watch, seed) =>
    evaluated(watch, selfPlay({ game: watch.game, agents: watch.agents, ...(seed !== undefined && { seed }) })),
  evaluate: ({ game, agents }, seed) => evaluate(game, agents, { episodes: 64, ...(seed !== undefined && { seed }) }),
  recordEpisode: ({ game, agents }, seed) => recordEpisode(game, agents, { seed }),
  'table.play': ({ game, agents }, seed) =>
    createTable({
      game,
      person: 'agent_0',
      others: agents.slice(1),
      decide: ({ mask }) => mask.indexOf(1),
    }).play({ seed }),
  vectorEnv: ({ game }, seed) => vectorEnv(game, { envs: 16, ...(seed !== undefined && { seed }) }),
  parallelEnv: ({ game }, seed) => parallelEnv(game, { seed }).reset(),
  gameContract: ({ game }, seed) => gameContract(game, { seed, episodes: 5 }),
};

/** Without the first games of the training and the first parameters, which any run begins with. */
async function evaluated(watch: Watch, run: SelfPlay): Promise<void> {
  await run.state();
  watch.seen.clear();
  await run.evaluate({ episodes: 64 });
}

async function watched(play: string, seed: number | undefined): Promise<Watch> {
  const watch = new Watch();
  await plays[play](watch, seed);
  return watch;
}

const pairs = Object.keys(plays).flatMap((one, i, all) => all.slice(i + 1).map((other) => [one, other] as const));

describe.each([5, undefined])('the seed %s', (seed) => {
  it.each(pairs)('gives %s and %s no state of a generator in common', async (one, other) => {
    const [first, second] = [await watched(one, seed), await watched(other, seed)];
    expect(first.seen.size).toBeGreaterThan(0);
    expect(second.seen.size).toBeGreaterThan(0);
    expect([...first.seen].filter((state) => second.seen.has(state))).toEqual([]);
  });
});

describe('evaluate', () => {
  it('does not begin where a training with the same seed began', async () => {
    const [trained, evaluated] = [await watched('selfPlay.train', 5), await watched('evaluate', 5)];
    // By chance: a board of 16 cells, two agents and three preys that differ: far more than 10,000 first states.
    const met = [...evaluated.firstStates].filter((state) => trained.firstStates.has(state));
    expect(met.length).toBeLessThan(evaluated.firstStates.size / 10);
    expect(evaluated.firstStates.size).toBeGreaterThan(60);
  });

  it('plays the same games as a run evaluates with the same seed', async () => {
    const [one, other] = [new Watch(), new Watch()];
    await selfPlay({ game: one.game, agents: one.agents, envs: 1, seed: 3 }).evaluate({ episodes: 8, seed: 7 });
    await evaluate(other.game, other.agents, { episodes: 8, seed: 7 });
    expect([...other.firstStates].every((state) => one.firstStates.has(state))).toBe(true);
  });
});

describe('a run that is restored', () => {
  it('goes on with the generators that were saved; its own seed does not matter', async () => {
    const make = (seed: number) => {
      const watch = new Watch();
      return { watch, run: selfPlay({ game: watch.game, agents: watch.agents, envs: 4, steps: 8, seed }) };
    };
    const [first, second] = [make(1), make(2)];
    await first.run.train({ envSteps: 64 });
    await second.run.restore(structuredClone(await first.run.state()));
    const before = [first, second].map(({ watch }) => new Set(watch.seen));
    for (const { run } of [first, second]) await run.train({ envSteps: 128 });
    const [one, other] = [first, second].map(({ watch }, i) =>
      [...watch.seen].filter((state) => !before[i].has(state)),
    );
    // The learners of a new run are begun from its own seed, before they are restored.
    expect(other).toEqual(expect.arrayContaining(one));
    expect(one.length).toBeGreaterThan(32); // of 16 steps the states of two agents alone
  });
});

describe('streamSeed', () => {
  it('gives seeds that differ by seed and by purpose, the same ones each time', () => {
    const purposes = ['train/env', 'train/agents', 'evaluate/env', 'env/train', 'train/enw', 'x'];
    const seeds = purposes.flatMap((purpose) => Array.from({ length: 200 }, (_, seed) => streamSeed(seed, purpose)));
    expect(new Set(seeds).size).toBe(1200);
    expect(seeds.every((seed) => Number.isSafeInteger(seed) && seed >= 0)).toBe(true);
    expect(streamSeed(2 ** 40 + 1, 'a')).not.toBe(streamSeed(1, 'a'));
    expect(createGenerator(streamSeed(1, 'a')).state()).toEqual(createGenerator(streamSeed(1, 'a')).state());
  });

  it.each([
    ['', /streamSeed: purpose: expected a word/],
    [undefined, /streamSeed: purpose/],
    [7, /streamSeed: purpose/],
  ])('refuses the purpose %j', (purpose, message) => expect(() => streamSeed(1, purpose as string)).toThrow(message));

  it('refuses a seed that is none', () => {
    expect(() => streamSeed(Number.NaN, 'a')).toThrow(/streamSeed: expected a seed/);
  });
});
