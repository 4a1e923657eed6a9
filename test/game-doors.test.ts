import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gridTransitions } from '@coplay/buffers';
import {
  type AnyGame,
  box,
  CoplayError,
  createGenerator,
  createRollout,
  evaluate,
  type Game,
  gameContract,
  imagine,
  multiDiscrete,
  otherView,
  parallelEnv,
  rulesSimulator,
  startsFrom,
  vectorEnv,
} from '@coplay/core';
import { allocateExperience } from '@coplay/core/arrays';
import { goalTracker } from '@coplay/diagnostics';
import {
  clipActions,
  flattenObservations,
  frameStack,
  limitedView,
  matrixGame,
  mixed,
  nearestStag,
  noOpAfterEnd,
  optimisticPartners,
  permuteSeats,
  randomAgent,
  recordEpisode,
  remakeRule,
  renderSvg,
  renderText,
  replayEpisode,
  rescaleActions,
  scaleRewards,
  stagHunt,
  stickyActions,
  switcher,
  timeLimit,
  titForTat,
  withAgentId,
  withPreviousActions,
} from '@coplay/envs';
import { canCentre, cellsWorldModel, inputEncoder, observationsWorldModel, planesWorldModel } from '@coplay/models';
import { beliefTracer, createBeliefs, createSearch, openGoals, seenStates } from '@coplay/planning';
import {
  createMoa,
  createOmg,
  createWorldModel,
  crossPlay,
  curriculum,
  dreamerAgent,
  exploitability,
  gridGoals,
  hopAgent,
  hopPlusAgent,
  iteratedGame,
  loadRun,
  lola,
  memoryOneAgent,
  ppoAgent,
  selfPlay,
  sharedDreamerAgents,
  sharedHopAgents,
  sharedHopPlusAgents,
  sharedPpoAgents,
  socialInfluenceAgent,
  unpackAgents,
} from '@coplay/trainers';
import { createTable, goalWalker, goalWatcher, onnxAgent, rulesOf } from '@coplay/viewer';
import { checkConfiguration } from 'coplay';
import { describe, expect, it } from 'vitest';
import { outside } from './outside';

const sound = stagHunt({ size: 4, agents: 2, stags: 1, hares: 1 });
const matrix = matrixGame();
const [id] = sound.agents;
const experience = allocateExperience(sound, 1, 1);
const states = vectorEnv(sound, { envs: 1 }).states;
const players = sound.agents.map((name) => randomAgent({ game: sound, id: name }));
const recording = await recordEpisode(sound, players);
const starts = { states, previousActions: Int32Array.of(-1, -1), isFirst: Uint8Array.of(1) };
const generator = createGenerator(0);
const nobody = async () => 0;
const directory = join(mkdtempSync(join(tmpdir(), 'coplay-doors-')), 'run');
await selfPlay({ game: sound, agents: players, directory }).save();

/** Every public function that is given a game. */
const doors: Readonly<Record<string, (game: Game) => unknown>> = {
  allocateExperience: (game) => allocateExperience(game, 1, 1),
  vectorEnv: (game) => vectorEnv(game, { envs: 1 }),
  parallelEnv: (game) => parallelEnv(game),
  createRollout: (game) => createRollout({ ...vectorEnv(sound, { envs: 1 }), step() {}, game }, players, generator),
  evaluate: (game) => evaluate(game, players, { episodes: 1 }),
  imagine: (game) => imagine({ game, step() {} }, players, starts, { horizon: 1, generator }),
  rulesSimulator: (game) => rulesSimulator(game),
  otherView: (game) => otherView(game, experience.observations, 1, 0, 1),
  gridTransitions: (game) => gridTransitions(game, experience),
  randomAgent: (game) => randomAgent({ game, id }),
  nearestStag: (game) => nearestStag({ game, id }),
  mixed: (game) => mixed({ game, id, p: 0.5 }),
  titForTat: (game) => titForTat({ game, id }),
  remakeRule: (game) => remakeRule({ game, id, name: 'Random', options: {} }),
  switcher: (game) => switcher({ game, id, first: players[0], second: players[0], episodes: 1 }),
  timeLimit: (game) => timeLimit(game, 3),
  clipActions: (game) => clipActions(game),
  flattenObservations: (game) => flattenObservations(game),
  frameStack: (game) => frameStack(game, 2),
  noOpAfterEnd: (game) => noOpAfterEnd(game),
  rescaleActions: (game) => rescaleActions(game),
  scaleRewards: (game) => scaleRewards(game, 2),
  stickyActions: (game) => stickyActions(game, 0.25),
  optimisticPartners: (game) => optimisticPartners(game, { chance: 0.5, lacksPartners: () => false, join() {} }),
  permuteSeats: (game) => permuteSeats(game),
  limitedView: (game) => limitedView(game, 1),
  withAgentId: (game) => withAgentId(game),
  withPreviousActions: (game) => withPreviousActions(game),
  renderText: (game) => renderText(game, states),
  renderSvg: (game) => renderSvg(game, states),
  recordEpisode: (game) => recordEpisode(game, players),
  'recordEpisode: simulator': (game) => recordEpisode(sound, players, { simulator: { game, step() {} } }),
  replayEpisode: (game) => replayEpisode(game, recording),
  inputEncoder: (game) => inputEncoder(game),
  canCentre: (game) => canCentre(game),
  cellsWorldModel: (game) => cellsWorldModel()(game),
  planesWorldModel: (game) => planesWorldModel()(game),
  observationsWorldModel: (game) => observationsWorldModel()(game),
  startsFrom: (game) => startsFrom({ game, step() {} }, experience, Int32Array.of(0)),
  createBeliefs: (game) => createBeliefs({ game, id }),
  beliefTracer: (game) => beliefTracer(game, id),
  openGoals: (game) => openGoals(game, states, 1),
  createSearch: (game) => createSearch({ game }),
  'createSearch: simulator': (game) => createSearch({ game: sound, simulator: { game, step() {} } }),
  seenStates: (game) => seenStates(game, { rows: 1, observations: experience.observations }, 0),
  ppoAgent: (game) => ppoAgent({ game, id }),
  sharedPpoAgents: (game) => sharedPpoAgents({ game }),
  dreamerAgent: (game) => dreamerAgent({ game, id }),
  sharedDreamerAgents: (game) => sharedDreamerAgents({ game }),
  hopAgent: (game) => hopAgent({ game, id }),
  sharedHopAgents: (game) => sharedHopAgents({ game }),
  hopPlusAgent: (game) => hopPlusAgent({ game, id }),
  sharedHopPlusAgents: (game) => sharedHopPlusAgents({ game }),
  createMoa: (game) => createMoa({ game, id }),
  createOmg: (game) => createOmg({ game, id }),
  createWorldModel: (game) => createWorldModel({ game }),
  socialInfluenceAgent: (game) => socialInfluenceAgent({ game, id }),
  loadRun: (game) => loadRun(directory, { game }),
  unpackAgents: (game) => unpackAgents(new Uint8Array(), { game }),
  lola: (game) => lola({ game }),
  iteratedGame: (game) => iteratedGame(game, 0.9),
  memoryOneAgent: (game) => memoryOneAgent({ game, id, parameters: new Float64Array(5) }),
  selfPlay: (game) => selfPlay({ game, agents: players }),
  'selfPlay: curriculum': (game) => selfPlay({ game: sound, agents: players, curriculum: { game, setProgress() {} } }),
  crossPlay: (game) => crossPlay({ game, policies: { random: players }, episodes: 1 }),
  exploitability: (game) => exploitability({ game, agents: players }),
  curriculum: (game) => curriculum(() => game),
  gridGoals: (game) => gridGoals(game),
  goalTracker: (game) => goalTracker({ game, envs: 1 }),
  createTable: (game) => createTable({ game, person: id, others: [players[1]], decide: nobody }),
  goalWalker: (game) => goalWalker(game),
  goalWatcher: (game) => goalWatcher(game, id),
  rulesOf: (game) => rulesOf(game),
  onnxAgent: (game) =>
    onnxAgent({
      game,
      id,
      session: { inputNames: [], outputNames: [], inputMetadata: [], run() {} } as never,
      Tensor: class {} as never,
    }),
  'coplay train': (game) => checkConfiguration('run.ts', { game, envSteps: 1 }),
};

/** Doors that play matrix games only. */
const ofMatrixGames = ['lola', 'iteratedGame', 'memoryOneAgent'];

/** Doors that take games with any spaces of actions; docs/spaces.md lists them. */
const ofAllSpaces = [
  ...['loadRun', 'unpackAgents', 'crossPlay', 'remakeRule'],
  ...['allocateExperience', 'vectorEnv', 'parallelEnv', 'createRollout', 'evaluate', 'selfPlay'],
  ...['randomAgent', 'ppoAgent', 'sharedPpoAgents', 'dreamerAgent', 'sharedDreamerAgents'],
  ...['createMoa', 'inputEncoder', 'canCentre'],
  ...['clipActions', 'flattenObservations', 'frameStack', 'limitedView', 'noOpAfterEnd', 'optimisticPartners'],
  ...['permuteSeats', 'rescaleActions', 'scaleRewards', 'stickyActions', 'timeLimit', 'withAgentId'],
  ...['withPreviousActions', 'recordEpisode', 'replayEpisode'],
];

/** What each wrong description must be told of it. */
const wrong: readonly (readonly [what: string, change: Record<string, unknown>, says: RegExp])[] = [
  [
    'a range of actions',
    { actions: { low: -1, high: 1 } },
    /actions of .* a whole number of at least 1.*\{low, high\}/,
  ],
  ['a negative number of actions', { actions: -1 }, /actions of .* at least 1.* got -1/],
  ['half an action', { actions: 1.5 }, /actions of .* a whole number.* got 1.5/],
  ['several sets of actions', { actions: [3, 4] }, /actions of .* the same for every agent, got \[3, 4\]/],
  ['no actions', { actions: undefined }, /actions of .* got undefined/],
  ['nobody', { agents: [] }, /agents of .* at least 1 different names/],
  ['agents of one name', { agents: ['a', 'a'] }, /agents of .* different names/],
  ['an agent without a name', { agents: ['a', ''] }, /agents of .* different names/],
  ['an agent that is a number', { agents: ['a', 2] }, /agents of .* different names/],
  ['nothing it shows', { observation: undefined }, /observation of .* a record of fields/],
  ['a negative side', { observation: { x: { shape: [-1], dtype: 'uint8' } } }, /observation.x of .* at least 1/],
  ['no shape', { observation: { x: { dtype: 'uint8' } } }, /observation.x of .* got undefined/],
  ['an unknown dtype', { observation: { x: { shape: [1], dtype: 'bool' } } }, /observation.x of .* got "bool"/],
  ['a field that is nothing', { observation: { x: null } }, /observation.x of .* got null/],
  [
    'names of channels for another dimension',
    { observation: { x: { shape: [3, 2], dtype: 'uint8', channels: ['a', 'b', 'c'] } } },
    /observation.x of .* 2 channels/,
  ],
];

/** The same of parts that not every function reads. */
const wrongRest: typeof wrong = [
  ['nothing to see', { observation: {} }, /observation of .* at least one field/],
  ['no name', { name: '' }, /name of .* a name/],
  ['a name of actions too few', { actionNames: ['up'] }, /actionNames of .* 7 names/],
  ['no state', { stateSize: 0 }, /stateSize of .* at least 1/],
  ['a state of NaN numbers', { stateSize: Number.NaN }, /stateSize of .* got NaN/],
  ['a state of 64 bits', { stateType: 'int64' }, /stateType of .* got "int64"/],
  ['no end', { maxSteps: Number.POSITIVE_INFINITY }, /maxSteps of .* got Infinity/],
  ['no list of infos', { infos: undefined }, /infos of .* different names, got undefined/],
  ['two infos of one name', { infos: ['a', 'a'] }, /infos of .* different names/],
  ['no options', { options: undefined }, /options of .* a record, got undefined/],
  ['nothing legal', { legal: undefined }, /legal of .* a function, got undefined/],
  ['a map that is no function', { readLayout: '1.2' }, /readLayout of .* a function/],
  ['goals without names', { goals: { reached() {}, isOpen() {} } }, /goals.names of .* at least 1/],
  ['a goal too many', { goals: { ...sound.goals, noGoal: 2 } }, /goals.noGoal of .* from 0 to 1, got 2/],
  ['goals that read another field', { goals: { ...sound.goals, reads: ['map'] } }, /goals.reads of .* planes, time/],
  ['a grid without rows', { grid: { ...sound.grid, rows: 0 } }, /grid.rows of .* got 0/],
];

async function errorOf(use: () => unknown): Promise<unknown> {
  try {
    await use();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('a game with a wrong description', () => {
  it.each(Object.entries(doors))('is refused by %s, which names what is wrong', async (name, use) => {
    const game = ofMatrixGames.includes(name) ? matrix : sound;
    for (const [what, change, says] of wrong) {
      const error = await errorOf(() => use({ ...game, ...change } as Game));
      expect(error, what).toBeInstanceOf(CoplayError);
      expect((error as Error).message).toMatch(says);
    }
  });

  it.each(wrongRest)('is refused where it says %s', (_, change, says) => {
    const game = { ...sound, ...change } as Game;
    expect(() => vectorEnv(game, { envs: 1 })).toThrow(says);
    expect(gameContract(game)[0].rule).toBe('description');
  });
});

describe('a game whose actions are not one number', () => {
  const discrete = Object.entries(doors).filter(([name]) => !ofAllSpaces.includes(name));

  it.each(discrete)('is refused by %s, which names the actions and the page', async (name, use) => {
    const game = ofMatrixGames.includes(name) ? matrix : sound;
    const width = game.actions;
    const spaces: readonly (readonly [AnyGame['actions'], RegExp])[] = [
      [box({ shape: [width] }), /got a box of shape/],
      [multiDiscrete(new Array<number>(width).fill(2)), /got choices among 2, 2/],
      [Object.fromEntries(game.agents.map((agent) => [agent, box({ shape: [width] })])), /got \w+: a box/],
    ];
    for (const [actions, says] of spaces) {
      const error = await errorOf(() => use({ ...game, actions } as unknown as Game));
      expect(error, String(says)).toBeInstanceOf(CoplayError);
      const { message } = error as Error;
      expect(message).toMatch(says);
      expect(message).toMatch(/actions of .* expected discrete actions/);
      expect(message).toContain('docs/spaces.md');
    }
  });
});

/** Doors that only play a game or read its description; docs/python-games.md lists them. */
const ofExternalGames = [
  ...['allocateExperience', 'vectorEnv', 'createRollout', 'evaluate', 'selfPlay', 'otherView', 'randomAgent'],
  ...['nearestStag', 'mixed', 'titForTat', 'switcher', 'inputEncoder', 'canCentre', 'observationsWorldModel'],
  ...['createWorldModel', 'createMoa', 'ppoAgent', 'sharedPpoAgents', 'dreamerAgent', 'sharedDreamerAgents'],
  ...['socialInfluenceAgent', 'onnxAgent', 'coplay train', 'remakeRule'],
];

describe('a game whose states are in another program', () => {
  const others = Object.keys(doors).filter((name) => !ofExternalGames.includes(name));
  const gameFor = (name: string) => outside(ofMatrixGames.includes(name) ? matrix : sound).game as unknown as Game;

  it.each(others)('is refused by %s, which names it and the page', async (name) => {
    const error = await errorOf(() => doors[name](gameFor(name)));
    expect(error).toBeInstanceOf(CoplayError);
    expect((error as Error).message).toMatch(/expected a game whose states can be copied, got .* outside/);
    expect((error as Error).message).toContain('docs/python-games.md');
  });

  it.each(ofExternalGames)('is taken by %s, or refused for another reason', async (name) => {
    const error = await errorOf(() => doors[name](gameFor(name)));
    expect(String(error)).not.toMatch(/another program/);
  });

  it('is refused by gameContract', () => {
    expect(() => gameContract(gameFor('gameContract'))).toThrow(
      /gameContract: expected a game whose states can be copied/,
    );
  });
});
