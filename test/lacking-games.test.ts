import { createMoaBuffer, gridTransitions } from '@coplay/buffers';
import {
  CoplayError,
  createGenerator,
  createRollout,
  type Game,
  type ObservationField,
  otherView,
  rulesSimulator,
  startsFrom,
  vectorEnv,
} from '@coplay/core';
import {
  freeRider,
  gymHunt,
  limitedView,
  matrixGame,
  mixed,
  nearestDrift,
  nearestHare,
  nearestStag,
  randomAgent,
  renderSvg,
  renderText,
  snowdrift,
  stagHunt,
  titForTat,
} from '@coplay/envs';
import { cellsWorldModel, observationsWorldModel, planesWorldModel } from '@coplay/models';
import { beliefTracer, createBeliefs, openGoals, seenStates } from '@coplay/planning';
import {
  createMoa,
  createOmg,
  createWorldModel,
  hopAgent,
  hopPlusAgent,
  iteratedGame,
  lola,
  memoryOneAgent,
  ppoAgent,
  sharedHopAgents,
  sharedHopPlusAgents,
} from '@coplay/trainers';
import { expect, it } from 'vitest';

/*
 * Games that lack something that a part of the library needs. Each message names what is missing and the page that says
 * how to give it.
 */

function without(game: Game, ...parts: readonly string[]): Game {
  return Object.fromEntries(Object.entries(game).filter(([name]) => !parts.includes(name))) as unknown as Game;
}

/** The game with one field, in which agents see zeros. */
function seenAs(game: Game, name: string, field: ObservationField): Game {
  return {
    ...without(game, 'grid', 'goals'),
    observation: { [name]: field },
    observe: (_state, _offset, _agent, out, row) => {
      const size = out[name].length;
      if (size > 0) out[name].fill(0, row, row + 1);
    },
  };
}

const hunt: Game = stagHunt({ size: 4, agents: 2, stags: 1, hares: 1 });
const [id] = hunt.agents;
const noGoals = without(hunt, 'goals');
const noGrid = without(hunt, 'grid');
const bare = without(hunt, 'grid', 'goals', 'scene', 'readLayout', 'writeLayout');
const numbers = seenAs(bare, 'numbers', { shape: [1], dtype: 'float32', kind: 'vector' });
const partial = limitedView(hunt, 1) as Game;
const matrix: Game = matrixGame();
const drifts = snowdrift({ size: 4, agents: 2, drifts: 2 }) as Game;
const gym = gymHunt() as Game;
const off = { worldModel: false, imagined: false, moa: false, omg: false } as const;
const agentsOf = (game: Game) => game.agents.map((name) => randomAgent({ game, id: name }));
const statesOf = (game: Game) => vectorEnv(game, { envs: 1 }).states;

async function experienceWithoutStates(game: Game) {
  const rollout = createRollout(vectorEnv(game, { envs: 1 }), agentsOf(game), createGenerator(0));
  const { states: _states, cuts, ...experience } = await rollout.collect(2);
  const { states: _cut, ...others } = cuts;
  return { ...experience, cuts: others };
}

/** What was called, what its message must name, and the call. */
const cases: readonly (readonly [what: string, part: RegExp, call: () => unknown])[] = [
  ['cellsWorldModel', /grid parts/, () => cellsWorldModel()(bare)],
  ['cellsWorldModel of a partial view', /grid parts/, () => cellsWorldModel()(partial)],
  ['planesWorldModel', /grid parts/, () => planesWorldModel()(numbers)],
  ['createWorldModel', /grid parts/, () => createWorldModel({ game: matrix, model: cellsWorldModel() })],
  ['gridTransitions', /grid parts/, async () => gridTransitions(bare, await experienceWithoutStates(bare))],
  ['otherView', /grid parts/, async () => otherView(bare, (await experienceWithoutStates(bare)).observations, 1, 0, 1)],
  [
    'startsFrom',
    /states/,
    async () => startsFrom(rulesSimulator(bare), await experienceWithoutStates(bare), Int32Array.of(0)),
  ],
  ['hopAgent', /observesState|own view/, () => hopAgent({ game: bare, id })],
  ['hopAgent of a partial view', /observesState|own view/, () => hopAgent({ game: partial, id })],
  ['sharedHopAgents', /observesState|own view/, () => sharedHopAgents({ game: numbers })],
  ['hopAgent, goals', /goals/, () => hopAgent({ game: noGoals, id, goals: 'hindsight' })],
  ['treeSearch', /observesState|own view/, () => hopPlusAgent({ game: bare, id, worldModel: 'rules', treeSearch: {} })],
  [
    'treeSearch of a partial view',
    /observesState|own view/,
    () => sharedHopPlusAgents({ game: partial, worldModel: 'rules', treeSearch: {} }),
  ],
  ['treeSearch without a model', /worldModel/, () => hopPlusAgent({ game: hunt, id, ...off, treeSearch: {} })],
  ['imagined without a model', /worldModel/, () => hopPlusAgent({ game: bare, id, worldModel: false, imagined: {} })],
  ['seenStates', /observesState/, () => seenStates(bare, { rows: 0, observations: {} }, 0)],
  ['goalPriors without goals', /goals/, () => hopPlusAgent({ game: noGoals, id, goalPriors: true })],
  ['goalPriors without a state', /observesState/, () => hopPlusAgent({ game: noGrid, id, goalPriors: true })],
  ['ppoAgent, centred', /self/, () => ppoAgent({ game: numbers, id, inputs: { centred: true } })],
  ['hopPlusAgent, centred', /self/, () => hopPlusAgent({ game: numbers, id, inputs: { centred: true } })],
  ['createMoa, centred', /self/, () => createMoa({ game: numbers, id, centred: true })],
  ['createMoa, goals', /goals/, () => createMoa({ game: noGoals, id, goals: 'hindsight' })],
  ['createMoaBuffer, goals', /goals/, () => createMoaBuffer({ coPlayers: [id], goals: {} as never })],
  ['createOmg, view', /grid parts/, () => createOmg({ game: bare, id, view: 'other' })],
  ['createOmg, view of a partial view', /grid parts/, () => createOmg({ game: partial, id, view: 'other' })],
  ['createBeliefs', /goals/, () => createBeliefs({ game: noGoals, id })],
  ['beliefTracer', /goals/, () => beliefTracer(noGoals, id)],
  ['openGoals', /goals/, () => openGoals(noGoals, statesOf(noGoals), 1)],
  ['renderText', /scene/, () => renderText(bare, statesOf(bare))],
  ['renderSvg', /scene/, () => renderSvg(matrix, statesOf(matrix))],
  ['reset, layout', /readLayout/, () => vectorEnv(bare, { envs: 1 }).reset({ layout: '1.' })],
  ['nearestStag, planes', /planes/, () => nearestStag({ game: numbers, id })],
  ['nearestStag, stags', /stags/, () => nearestStag({ game: drifts, id: drifts.agents[0] })],
  ['nearestHare', /obstacles|hares/, () => nearestHare({ game: gym, id: gym.agents[0] })],
  ['nearestDrift', /drifts/, () => nearestDrift({ game: hunt, id })],
  ['mixed', /planes/, () => mixed({ game: matrix, id: matrix.agents[0], p: 0.5 })],
  ['titForTat', /planes/, () => titForTat({ game: numbers, id })],
  ['freeRider', /shovel/, () => freeRider({ game: hunt, id })],
  ['limitedView', /planes/, () => limitedView(numbers, 1)],
  ['lola', /matrix game/, () => lola({ game: hunt })],
  ['iteratedGame', /matrix game/, () => iteratedGame(drifts, 0.9)],
  ['memoryOneAgent', /matrix game/, () => memoryOneAgent({ game: hunt, id, probabilities: [1, 1, 1, 1, 1] } as never)],
  [
    'observationsWorldModel, uint32',
    /uint32/,
    () => observationsWorldModel()(seenAs(bare, 'n', { shape: [1], dtype: 'uint32' })),
  ],
  [
    'indices without classes',
    /classes/,
    () => ppoAgent({ game: seenAs(bare, 'n', { shape: [1], dtype: 'uint8', kind: 'indices' }), id }),
  ],
];

it.each(cases)('%s', async (_what, part, call) => {
  const refused: unknown = await Promise.resolve()
    .then(call)
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(CoplayError);
  const { message } = refused as CoplayError;
  expect(message).toMatch(part);
  expect(message).toMatch(/\b(docs\/[a-z-]+|packages\/[a-z]+\/README)\.md/);
});
