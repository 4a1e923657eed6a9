import { createGenerator, vectorEnv } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import * as planning from '@coplay/planning';
import { type Doors, door, type Takes } from './doors';

const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 3 });
const env = vectorEnv(game, { envs: 2 });
const leaves = () => ({ rows: 2, seats: Int32Array.of(0, 1), states: env.states });
const roots = () => ({ ...leaves(), generator: createGenerator(1) });
const networks = {
  focal: ({ rows }: { readonly rows: number }) => ({
    logits: new Float32Array(rows * game.actions),
    values: new Float32Array(rows),
  }),
};
const seen = () => planning.observeRows(game, { ...leaves(), seats: Int32Array.of(0, 0) }).observations;
const doubles = () => new Float64Array(4).fill(0.5);
const flags = () => new Uint8Array(4).fill(1);

const remembers = (give: () => planning.GoalMemory, last: Takes = ['-1']) => ({
  add: door(() => [1, 0], [last, 'anything']),
  restore: door(() => [give().state()], [last === 'anything' ? last : 'nothing']),
});

/** The public functions of planning, with valid arguments. */
export const planningDoors: Doors = {
  allocateRows: door(() => [game, 2]),
  beliefTracer: door(() => [game, 'agent_1', 0], ['nothing', 'nothing', ['undefined']], {
    add: door(() => [doubles(), Uint8Array.of(1)], [['longer'], ['Uint16Array [7]', 'longer']]),
  }),
  blendPrior: door(() => [doubles(), Int32Array.of(0, -1), 0.5]),
  createBeliefs: door(() => [{ game, id: 'agent_0' }], [], {
    see: door(() => [env.states, Uint8Array.of(1, 1), new Float64Array(8)], ['nothing', 'nothing', ['undefined']]),
    prior: door(() => ['agent_1']),
    restore: door(() => [planning.createBeliefs({ game, id: 'agent_0' }).save()]),
  }),
  createSearch: door(() => [{ game, simulations: 2, trees: 1 }], [], { search: door(() => [roots(), networks]) }),
  discountCounts: door(() => [doubles(), Int32Array.of(0, -1), 0.5]),
  fixedMemory: door(
    () => [[0.7, 0.3]],
    [['Uint16Array [7]', 'longer']],
    remembers(() => planning.fixedMemory([0.7, 0.3]), 'anything'),
  ),
  goalsPerEpisode: door(() => [3, 0.9], ['nothing', ['undefined']], {
    add: door(() => [1], [['2**33']]),
    restore: door(() => [planning.goalsPerEpisode(3).state()]),
  }),
  countMemory: door(() => [{ goals: 3 }], [], {
    add: door(() => [-1, 0], ['anything', ['2**33']], {}, ['goalsPerEpisode.add']),
    restore: door(() => [planning.countMemory({ goals: 3 }).state()], [], {}, ['goalsPerEpisode.restore']),
  }),
  goalCounts: door(() => [2, 0.9], [], {
    add: door(() => [1], [['-1']]),
    restore: door(() => [planning.goalCounts(2, 0.9).state()]),
  }),
  goalLikelihoods: door(() => [new Float32Array(8), Int32Array.of(0, 1), 2]),
  goalMemory: door(
    () => [2, 0.9],
    ['nothing', ['undefined']],
    remembers(() => planning.goalMemory(2, 0.9)),
  ),
  observeRows: door(() => [game, leaves(), planning.allocateRows(game, 2)], ['nothing', 'nothing', ['undefined']]),
  openGoals: door(() => [game, env.states, 2], ['nothing', ['longer']]),
  priorOfCounts: door(() => [doubles(), 2]),
  resolveSearch: door(() => [{ game }]),
  seenStates: door(() => [game, { rows: 2, observations: seen() }, 0]),
  uniformMemory: door(
    () => [2],
    [],
    remembers(() => planning.uniformMemory(2), 'anything'),
  ),
  updateBeliefs: door(
    () => [doubles(), doubles(), flags(), 2, doubles()],
    ['nothing', 'nothing', 'nothing', 'nothing', ['undefined']],
  ),
};
