/**
 * Goals of your own, recognised in the actions of others: `npx tsx --conditions=@coplay/source examples/own-goals.ts`
 *
 * Three walkers go to a shop of a street. A shop closes as soon as somebody has been served, so a walker may have to
 * change its mind. The game names its goals (`goals`) and recognises them by the states before and after a step. A
 * model
 * of another agent (MOA) labels past steps with them: the goal of a step is the shop that the walker enters next.
 */
import { moaRows } from '@coplay/buffers';
import { type Agent, assertGame, createGenerator, createRollout, type Game, ndarray, vectorEnv } from '@coplay/core';
import { drawIndex } from '@coplay/core/rows';
import { moaEvaluation, textTable } from '@coplay/diagnostics';
import { mlp } from '@coplay/models';
import { createMoa } from '@coplay/trainers';

const [LEFT, RIGHT, ENTER] = [0, 1, 2];
const WALKERS = 3;
const GONE = 9; // places of the street: 0 to 8; 9: was served and has left
const MAX_STEPS = 30;
const SHOPS = ['bakery', 'library', 'florist'];
const DOORS = [0, 4, 8]; // the places of the shops

// Layout of one environment's state.
const STEPS = 0;
const OPEN = 1; // 1 for each shop that is open
const PLACES = OPEN + SHOPS.length; // of the walkers

const street: Game<'int32'> = {
  name: 'street',
  agents: ['agent_0', 'agent_1', 'agent_2'],
  actions: 3,
  actionNames: ['left', 'right', 'enter'],
  observation: {
    places: { shape: [WALKERS], dtype: 'uint8', kind: 'indices', classes: GONE + 1 }, // the own one first
    open: { shape: [SHOPS.length], dtype: 'uint8', kind: 'planes' }, // planes: zeros and ones
  },
  stateType: 'int32',
  stateSize: PLACES + WALKERS,
  maxSteps: MAX_STEPS,
  infos: [],
  options: {},

  goals: {
    names: SHOPS,
    readsStates: true,
    // A walker that was served has left the street, from the door at which it was before the step.
    reached: ({ agent, before, after }) =>
      after[PLACES + agent] === GONE ? DOORS.indexOf(before[PLACES + agent]) : -1,
    isOpen: (goal, state, offset) => state[offset + OPEN + goal] === 1,
  },

  reset(state, offset, generator) {
    state[offset + STEPS] = 0;
    state.fill(1, offset + OPEN, offset + PLACES);
    for (let i = 0; i < WALKERS; i++) state[offset + PLACES + i] = generator.integer(GONE);
  },

  step(state, offset, actions, actionsOffset, _generator, result, row) {
    const isLast = ++state[offset + STEPS] >= MAX_STEPS;
    // Walkers who enter a shop together are all served, so every action is judged before a shop closes.
    for (let i = 0; i < WALKERS; i++) {
      const shop = DOORS.indexOf(state[offset + PLACES + i]);
      const isServed = shop >= 0 && state[offset + OPEN + shop] === 1 && actions[actionsOffset + i] === ENTER;
      result.rewards[row * WALKERS + i] = isServed ? 1 : 0;
    }
    for (let i = 0; i < WALKERS; i++) {
      const at = row * WALKERS + i;
      const place = state[offset + PLACES + i];
      const action = actions[actionsOffset + i];
      if (result.rewards[at] === 1) {
        state[offset + OPEN + DOORS.indexOf(place)] = 0;
        state[offset + PLACES + i] = GONE;
      } else if (place !== GONE && action !== ENTER) {
        state[offset + PLACES + i] = Math.max(0, Math.min(GONE - 1, place + (action === LEFT ? -1 : 1)));
      }
      result.terminated[at] = state[offset + PLACES + i] === GONE ? 1 : 0;
      result.truncated[at] = isLast ? 1 - result.terminated[at] : 0;
    }
  },

  legal(state, offset, agent, mask, maskOffset) {
    const place = state[offset + PLACES + agent];
    const shop = DOORS.indexOf(place);
    mask[maskOffset + LEFT] = 1; // the one action of a walker that has left
    mask[maskOffset + RIGHT] = place === GONE ? 0 : 1;
    mask[maskOffset + ENTER] = shop >= 0 && state[offset + OPEN + shop] === 1 ? 1 : 0;
  },

  observe(state, offset, agent, out, row) {
    for (let i = 0; i < WALKERS; i++) {
      out['places'][row * WALKERS + i] = state[offset + PLACES + ((agent + i) % WALKERS)];
    }
    for (let shop = 0; shop < 3; shop++) out['open'][row * 3 + shop] = state[offset + OPEN + shop];
  },

  isActive: (state, offset, agent) => state[offset + PLACES + agent] !== GONE,
  elapsed: (state, offset) => state[offset + STEPS],
};

assertGame(street);

/** Goes to a shop drawn by its taste, and draws another one if that shop closes first. Its memory: the goals. */
function walker(id: string, taste: readonly number[]): Agent<Int32Array> {
  return {
    id,
    name: 'walker',
    initialState: (rows) => new Int32Array(rows).fill(-1),
    act({ rows, observations, isFirst }, state, generator) {
      const goals = state.slice();
      const actions = new Int32Array(rows);
      const { places, open } = observations;
      for (let row = 0; row < rows; row++) {
        const place = places[row * WALKERS];
        if (place === GONE) continue;
        const isOpen = (shop: number) => open[row * SHOPS.length + shop] === 1;
        if (isFirst[row] === 1 || !isOpen(goals[row])) {
          const weights = taste.map((weight, shop) => (isOpen(shop) ? weight : 0));
          goals[row] = drawIndex(weights, generator);
        }
        const door = DOORS[goals[row]];
        actions[row] = place === door ? ENTER : place > door ? LEFT : RIGHT;
      }
      return { actions, state: goals };
    },
  };
}

const tastes = { agent_0: [1, 1, 1], agent_1: [8, 1, 1], agent_2: [1, 3, 6] }; // weights of the shops
const walkers = Object.entries(tastes).map(([id, taste]) => walker(id, taste));
const rollout = createRollout(vectorEnv(street, { envs: 32, seed: 1 }), walkers, createGenerator(1));

const moa = createMoa({ game: street, id: 'agent_0', network: mlp({ hidden: [64] }), learningRate: 3e-3, epochs: 4 });
const generator = createGenerator(2);
await moa.initialise(generator);
for (let update = 0; update < (process.env['COPLAY_QUICK'] ? 2 : 30); update++) {
  moa.push(await rollout.collect(32));
  await moa.update(generator);
}

const unseen = await rollout.collect(64);
const table = [];
for (const id of moa.coPlayers) {
  const rows = moaRows(unseen, street.agents.indexOf(id), { goals: street.goals });
  const unknown = { ...rows, goals: ndarray(new Int32Array(rows['goals'].data.length).fill(-1)) };
  const accuracyOf = async (shown: typeof rows) => {
    const scores = await moa.predictRows(id, shown);
    return moaEvaluation({ classes: street.actionNames, scores, labels: rows['actions'].data as Int32Array }).top1;
  };
  const prior = Object.fromEntries(SHOPS.map((shop, goal) => [shop, moa.prior(id)[goal]]));
  table.push({ id, ...prior, 'accuracy, goal known': await accuracyOf(rows), unknown: await accuracyOf(unknown) });
}
console.log('Shares of the shops that the others entered, and the share of their actions that the model predicts:');
console.log(textTable(table));
moa.dispose();
