import { allocateGrid } from '@coplay/core/arrays';
import { stagHunt } from '@coplay/envs';
import { describe, expect, test } from 'vitest';
import { at, Play } from './play';

const [UP, DOWN, LEFT, RIGHT, STAY, STAG, HARE] = [0, 1, 2, 3, 4, 5, 6];
const STEP = {
  rewards: [0, 0],
  terminated: [0, 0],
  truncated: [0, 0],
  illegal: [0, 0],
  caughtHare: [0, 0],
  caughtStag: [0, 0],
};

const small = (options = {}) => new Play(stagHunt({ size: 4, agents: 2, ...options }));

describe('moves', () => {
  test('up is row - 1, left is column - 1, stay stays', () => {
    const play = new Play(stagHunt({ size: 4, agents: 5 })).start(`
      .1..
      2...
      ..34
      ...5`);
    play.step([DOWN, RIGHT, LEFT, UP, STAY]);
    // 1: (0,1) to (1,1); 2: (1,0) to (1,1); 3: (2,2) to (2,1); 4: (2,3) to (1,3); 5 stays on (3,3).
    expect(JSON.parse(play.layout()).agents).toEqual(at('11 11 21 13 33'));
  });

  test('walls and obstacles block: the move is illegal, has the effect of STAY and is counted', () => {
    const play = small().start(`
      1#..
      ....
      ....
      ...2`);
    expect(play.mask(0)).toEqual([0, 1, 0, 0, 1, 0, 0]);
    expect(play.mask(1)).toEqual([1, 0, 1, 0, 1, 0, 0]);
    expect(play.step([RIGHT, DOWN])).toEqual({ ...STEP, illegal: [1, 1] });
    expect(play.layout()).toBe('1#..\n....\n....\n...2\nsteps: 1');
  });

  test('agents may meet and change places', () => {
    const play = small().start('12..\n....\n....\n....');
    play.step([RIGHT, LEFT]);
    expect(play.layout().split('\n')[0]).toBe('21..');
    play.step([STAY, RIGHT]);
    expect(JSON.parse(play.layout()).agents).toEqual(at('01 01'));
  });
});

describe('hares', () => {
  test('a hunter alone gets 1 and leaves; the hare is gone; the other plays on', () => {
    const play = small().start({ agents: at('00 33'), hares: at('00 22') });
    expect(play.mask(0)).toEqual([0, 1, 0, 1, 1, 0, 1]);
    expect(play.step([HARE, STAY])).toEqual({ ...STEP, rewards: [1, 0], terminated: [1, 0], caughtHare: [1, 0] });
    expect(play.layout()).toBe('....\n....\n..h.\n...2\nsteps: 1\nleft: 1');
    // It acts no more, is paid no more, and may only stay.
    expect(play.mask(0)).toEqual([0, 0, 0, 0, 1, 0, 0]);
    expect(play.step([RIGHT, STAY])).toEqual({ ...STEP, terminated: [1, 0] });
    expect(play.layout()).toBe('....\n....\n..h.\n...2\nsteps: 2\nleft: 1');
  });

  test('all hunters of a hare split it equally, for any strengths; an agent that only stands there gets nothing', () => {
    const play = new Play(stagHunt({ size: 4, agents: 4, strengths: [1, 2, 3, 4] }));
    play.start({ agents: at('11 11 11 11'), hares: at('11') });
    const { rewards, terminated, caughtHare } = play.step([HARE, HARE, STAY, HARE]);
    expect(rewards).toEqual([1 / 3, 1 / 3, 0, 1 / 3].map(Math.fround));
    expect(terminated).toEqual([1, 1, 0, 1]);
    expect(caughtHare).toEqual([1, 1, 0, 1]);
  });

  test('a hunt where no hare is, or on a stag, is illegal', () => {
    const play = small().start({ agents: at('00 11'), stags: at('11') });
    expect(play.step([HARE, HARE])).toEqual({ ...STEP, illegal: [1, 1] });
  });
});

describe('stags', () => {
  const onStag = { agents: at('11 11 11 11'), stags: at('11') };
  const four = (options = {}) => new Play(stagHunt({ size: 4, agents: 4, ...options })).start(onStag);

  test('one hunter alone gets nothing, and its hunt is legal', () => {
    const play = small().start({ agents: at('11 00'), stags: at('11') });
    expect(play.mask(0)[STAG]).toBe(1);
    expect(play.step([STAG, STAY])).toEqual(STEP);
    expect(play.layout()).toContain('"stags":[[1,1]]');
  });

  test.each([
    { hunters: [0, 1], rewards: [5, 5, 0, 0] },
    { hunters: [1, 2, 3], rewards: [0, 10 / 3, 10 / 3, 10 / 3] },
    { hunters: [0, 1, 2, 3], rewards: [2.5, 2.5, 2.5, 2.5] },
  ])('hunters $hunters split 10 equally and leave', ({ hunters, rewards }) => {
    const played = four().step([0, 1, 2, 3].map((agent) => (hunters.includes(agent) ? STAG : STAY)));
    expect(played.rewards).toEqual(rewards.map(Math.fround));
    expect(played.terminated).toEqual(rewards.map((reward) => (reward > 0 ? 1 : 0)));
    expect(played.caughtStag).toEqual(played.terminated);
  });

  test('strengths share a stag in proportion among its hunters', () => {
    const { rewards } = four({ strengths: [1, 2, 3, 4] }).step([STAG, STAY, STAG, STAG]);
    // 10 shared 1 : 3 : 4
    expect(rewards).toEqual([1.25, 0, 3.75, 5]);
  });

  test('two hunters on different stags are each alone', () => {
    const play = small().start({ agents: at('00 11'), stags: at('00 11') });
    expect(play.step([STAG, STAG])).toEqual(STEP);
  });

  test('stagNeedsPartner: hunting is legal only where two agents stand; a partner that does not hunt is no help', () => {
    const play = small({ stagNeedsPartner: true }).start({ agents: at('11 10'), stags: at('11') });
    expect(play.mask(0)[STAG]).toBe(0);
    // The other arrives in this very step: judged before it, the hunt is illegal.
    expect(play.step([STAG, RIGHT])).toEqual({ ...STEP, illegal: [1, 0] });
    expect(play.mask(0)[STAG]).toBe(1);
    expect(play.mask(1)[STAG]).toBe(1);
    expect(play.step([STAG, STAY])).toEqual(STEP);
    expect(play.step([STAG, LEFT])).toEqual(STEP); // it was there before the step, and leaves
    expect(play.mask(0)[STAG]).toBe(0);
  });
});

describe('known values: mean over the agents of one episode', () => {
  const mean = ({ rewards }: { rewards: number[] }) =>
    rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;

  test('two on the stag, two on hares: 5, 5, 1, 1, the best for one stag', () => {
    const play = new Play(stagHunt({ size: 4 }));
    play.start({ agents: at('00 00 11 22'), stags: at('00'), hares: at('11 22') });
    const played = play.step([STAG, STAG, HARE, HARE]);
    expect(played.rewards).toEqual([5, 5, 1, 1]);
    expect(mean(played)).toBe(3);
  });

  test('all on hares: 1', () => {
    const places = at('00 11 22 33');
    const play = new Play(stagHunt({ size: 4 })).start({ agents: places, hares: places });
    expect(mean(play.step([HARE, HARE, HARE, HARE]))).toBe(1);
  });

  test('two stags: 5', () => {
    const play = new Play(stagHunt({ size: 4, stags: 2 }));
    play.start({ agents: at('00 00 11 11'), stags: at('00 11') });
    expect(mean(play.step([STAG, STAG, STAG, STAG]))).toBe(5);
  });
});

describe('ends and time', () => {
  const still = [STAY, STAY];

  test('maxSteps truncates those who play; who has left is terminated and never truncated', () => {
    const play = small({ maxSteps: 3 }).start({ agents: at('00 33'), hares: at('00') });
    expect(play.step([HARE, STAY])).toMatchObject({ terminated: [1, 0], truncated: [0, 0] });
    expect(play.step(still)).toMatchObject({ terminated: [1, 0], truncated: [0, 0] });
    expect(play.observe(1)['time'][0]).toBeCloseTo(2 / 3, 6);
    expect(play.step(still)).toMatchObject({ terminated: [1, 0], truncated: [0, 1] });
    expect(play.observe(1)['time']).toEqual([1]);
  });

  test('who leaves in the last step is terminated, the others truncated', () => {
    const layout = { agents: at('00 33'), hares: at('00 33') };
    const some = small({ maxSteps: 1 }).start(layout).step([HARE, STAY]);
    expect(some).toMatchObject({ terminated: [1, 0], truncated: [0, 1] });
    const all = small({ maxSteps: 1 }).start(layout).step([HARE, HARE]);
    expect(all).toMatchObject({ terminated: [1, 1], truncated: [0, 0] });
  });

  test('with nothing left to gain the episode goes on to its limit', () => {
    const play = small({ maxSteps: 5 }).start({ agents: at('00 33') });
    for (let t = 1; t <= 4; t++) expect(play.step(still)).toMatchObject({ terminated: [0, 0], truncated: [0, 0] });
    expect(play.step(still)).toMatchObject({ terminated: [0, 0], truncated: [1, 1] });
  });

  test('stepsAfterFirstHunt counts from the first catch, and later ones do not restart it', () => {
    const play = new Play(stagHunt({ size: 4, agents: 3, stepsAfterFirstHunt: 3 }));
    play.start({ agents: at('00 11 22'), hares: at('00 11') });
    const idle = [STAY, STAY, STAY];
    play.step(idle);
    play.step([HARE, STAY, STAY]); // the first catch, in step 2: the last step is 5
    expect(play.step(idle).truncated).toEqual([0, 0, 0]);
    expect(play.step([STAY, HARE, STAY]).truncated).toEqual([0, 0, 0]);
    expect(play.step(idle)).toMatchObject({ terminated: [1, 1, 0], truncated: [0, 0, 1] });
  });

  test('stepsAfterFirstHunt never outlasts maxSteps', () => {
    const play = small({ maxSteps: 2, stepsAfterFirstHunt: 9 });
    play.start({ agents: at('00 33'), hares: at('00') });
    play.step([HARE, STAY]);
    expect(play.step(still).truncated).toEqual([0, 1]);
  });

  test('stepReward is paid to all on the map before the step, the last step included', () => {
    const play = small({ stepReward: -0.5 }).start({ agents: at('00 33'), hares: at('00') });
    expect(play.step([HARE, STAY]).rewards).toEqual([0.5, -0.5]);
    expect(play.step(still).rewards).toEqual([0, -0.5]);
  });
});

describe('prey that move', () => {
  test('with probability 1 a prey goes to each free neighbour equally often, and joins agents', () => {
    const play = small({ preyMoves: 1 });
    const seen = new Map<string, number>();
    for (let i = 0; i < 3000; i++) {
      // The neighbours of the hare at (1, 1): an obstacle above, the stag on the left; free below and on the right,
      // with an agent.
      play.start({ agents: at('12 33'), obstacles: at('01'), stags: at('10'), hares: at('11') });
      play.step([STAY, STAY]);
      const [hare] = play.plane(0, 'hares');
      seen.set(String(hare), (seen.get(String(hare)) ?? 0) + 1);
    }
    // The stag moves first, to (0, 0) or (2, 0); the hare's open cells are then (1, 0), (2, 1) and (1, 2). 1,000 each,
    // sd 26.
    expect([...seen.keys()].sort()).toEqual(['1,0', '1,2', '2,1']);
    for (const count of seen.values()) expect(Math.abs(count - 1000)).toBeLessThan(130);
  });

  test('a prey that is hemmed in stays, and a caught one does not move', () => {
    const play = small({ preyMoves: 1 });
    play.start({ agents: at('33 03'), obstacles: at('01 10'), hares: at('00 33') });
    play.step([HARE, STAY]);
    expect(play.plane(1, 'hares')).toEqual(at('00'));
  });

  test('with probability 0.25 about a quarter of them move', () => {
    const play = small({ preyMoves: 0.25 });
    let moved = 0;
    for (let i = 0; i < 4000; i++) {
      play.start({ agents: at('00 33'), hares: at('11') });
      play.step([STAY, STAY]);
      if (String(play.plane(0, 'hares')) !== '1,1') moved++;
    }
    // 1,000 expected, standard deviation sqrt(4000 * 0.25 * 0.75) = 27
    expect(Math.abs(moved - 1000)).toBeLessThan(137);
  });
});

describe('partners by chance', () => {
  const lone = { agents: at('11 33'), stags: at('11'), hares: at('00') };

  test('a lone hunter that a partner joins gets half of the stag and leaves; the stag is gone', () => {
    const play = small({ partnerChance: 1 }).start(lone);
    expect(play.step([STAG, STAY])).toEqual({ ...STEP, rewards: [5, 0], terminated: [1, 0], caughtStag: [1, 0] });
    expect(play.layout()).toBe('h...\n....\n....\n...2\nsteps: 1\nleft: 1');
  });

  test('two hunters share by the rules, and no partner joins them', () => {
    const play = small({ partnerChance: 1, strengths: [1, 3] }).start({ agents: at('11 11'), stags: at('11') });
    expect(play.step([STAG, STAG]).rewards).toEqual([2.5, 7.5]);
  });

  test('a partner joins with the given probability, drawn for lone hunters only', () => {
    const play = small({ partnerChance: 0.25 });
    const before = play.generator.state();
    play.start(lone).step([STAY, STAY]);
    expect(play.generator.state()).toEqual(before);
    let joined = 0;
    for (let trial = 0; trial < 4000; trial++) joined += play.start(lone).step([STAG, STAY]).caughtStag![0];
    expect(Math.abs(joined / 4000 - 0.25)).toBeLessThan(0.03); // more than 4 standard errors
  });

  test('the payments of grid parts agree with it', () => {
    const game = stagHunt({ size: 4, agents: 2, partnerChance: 0.5 });
    const parts = allocateGrid(game.grid!, 2, 1);
    parts.cells.set([5, 15]);
    const rewards = new Float32Array(2);
    game.grid!.pay(parts, Int32Array.of(0, -1), rewards, 0, parts);
    expect([...rewards]).toEqual([5, 0]);
  });
});
