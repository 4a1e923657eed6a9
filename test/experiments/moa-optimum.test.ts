import { createEpisodeCollector, moaRows } from '@coplay/buffers';
import { createGenerator, createRollout, type GridParts, vectorEnv } from '@coplay/core';
import { allocateGrid, allocateStepArrays, type GridArrays } from '@coplay/core/arrays';
import { nearestHare, nearestStag, stagHunt } from '@coplay/envs';
import { describe, expect, it } from 'vitest';
import { optimaOf } from '../../studies/moa/optimum';
import { type Board, HARE_HUNTER, playerRules, STAG_HUNTER } from '../../studies/moa/rules';
import { mixedPlayers } from '../../studies/moa/samples';
import { squareSymmetries, turnedRows } from '../../studies/moa/symmetries';

const game = stagHunt({ size: 4, agents: 3, stags: 1, hares: 2, maxSteps: 10 });

describe('rules of players as distributions', () => {
  it.each(['hunt', 'stay'] as const)('are those of the players themselves, waiting by %s', async (waits) => {
    const rules = playerRules(game, waits);
    const players = [STAG_HUNTER, HARE_HUNTER].map((type) =>
      type === STAG_HUNTER ? nearestStag({ game, id: 'agent_0', waits }) : nearestHare({ game, id: 'agent_0' }),
    );
    const env = vectorEnv(game, { envs: 64, seed: 1 });
    const { observations, masks, active, isFirst, previousActions } = await createRollout(
      env,
      mixedPlayers(game, waits),
      createGenerator(1),
    ).collect(10);
    const generator = createGenerator(2);
    const parts = allocateGrid(game.grid as GridParts, 3, 1);
    let checked = 0;
    for (let row = 0; row < 64 * 10; row += 7) {
      if (active[row * 3] !== 1) continue;
      (game.grid as GridParts).see(observations, row * 3, 0, parts, 0);
      const board: Board = { stags: parts.things.slice(0, 16), hares: parts.things.slice(16), obstacles: parts.fixed };
      const own = parts.cells[0];
      const hasCompany = parts.cells[1] === own || parts.cells[2] === own;
      // The same view 200 times: how often each action is taken.
      const repeat = (data: Uint8Array | Float32Array, size: number) => {
        const one = data.subarray(row * 3 * size, (row * 3 + 1) * size);
        return Uint8Array.from({ length: 200 * size }, (_, i) => one[i % size]);
      };
      const input = {
        rows: 200,
        observations: { planes: repeat(observations['planes'] as Uint8Array, 16 * 6), time: new Float32Array(200) },
        masks: repeat(masks, 7),
        active: new Uint8Array(200).fill(1),
        isFirst: new Uint8Array(200).fill(isFirst[row]),
        previousActions: new Int32Array(600).fill(previousActions[0]),
      };
      for (const [type, player] of players.entries()) {
        const { actions } = await player.act(input, null, generator);
        const expected = rules.distribution(type, board, own, hasCompany);
        const counts = new Float64Array(7);
        for (const action of actions) counts[action] += 1 / 200;
        // Five standard deviations of a share of 200.
        for (let k = 0; k < 7; k++)
          expect(Math.abs(counts[k] - expected[k])).toBeLessThan(expected[k] % 1 === 0 ? 1e-9 : 0.18);
      }
      checked++;
    }
    expect(checked).toBeGreaterThan(40);
  });
});

describe('what can be known of a player', () => {
  it('by its present state is what enumerating all of its pasts gives, for a player alone', async () => {
    const alone = stagHunt({ size: 3, agents: 1, stags: 1, hares: 1, maxSteps: 6 });
    const rules = playerRules(alone, 'hunt');
    const rollout = createRollout(
      vectorEnv(alone, { envs: 24, seed: 3 }),
      mixedPlayers(alone, 'hunt'),
      createGenerator(3),
    );
    const episodes = createEpisodeCollector().push(await rollout.collect(6));
    const { present, type: known } = optimaOf(alone, rules, 'hunt', episodes, 0);
    const parts = allocateGrid(alone.grid as GridParts, 1, 1);
    let row = 0;
    for (let e = 0; e < episodes.envs; e++) {
      for (let t = 0; t < episodes.lengths[e]; t++, row++) {
        (alone.grid as GridParts).see(episodes.observations, e * episodes.steps + t, 0, parts, 0);
        const board: Board = { stags: parts.things.slice(0, 9), hares: parts.things.slice(9), obstacles: parts.fixed };
        /** Probability of being on the cell after `left` more steps, still there. */
        const reach = (type: number, cell: number, left: number): number => {
          if (left === 0) return cell === parts.cells[0] ? 1 : 0;
          if (type === HARE_HUNTER && board.hares[cell] === 1) return 0; // caught it
          const p = rules.distribution(type, board, cell, false);
          return p.reduce(
            (sum, q, action) => (q > 0 ? sum + q * reach(type, rules.target(cell, action), left - 1) : sum),
            0,
          );
        };
        const starts = Array.from({ length: 9 }, (_, cell) => cell).filter(
          (cell) => board.stags[cell] + board.hares[cell] === 0,
        );
        const [stag, hare] = [STAG_HUNTER, HARE_HUNTER].map((type) =>
          starts.reduce((sum, start) => sum + reach(type, start, t), 0),
        );
        const share = stag / (stag + hare);
        const [bySt, byHa] = [STAG_HUNTER, HARE_HUNTER].map((type) =>
          rules.distribution(type, board, parts.cells[0], false),
        );
        for (let k = 0; k < 7; k++) {
          expect(present[row * 7 + k]).toBeCloseTo(share * bySt[k] + (1 - share) * byHa[k], 10);
        }
        expect(known[row * 7 + episodes.actions[e * episodes.steps + t]]).toBeGreaterThan(0);
      }
    }
    expect(row * 7).toBe(present.length);
    expect(row).toBeGreaterThan(60);
  });

  it.each(['hunt', 'stay'] as const)(
    "goes by the game's own steps with another player present, waiting by %s",
    async (waits) => {
      const two = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 6 });
      const grid = two.grid as GridParts;
      const rules = playerRules(two, waits);
      const rollout = createRollout(
        vectorEnv(two, { envs: 64, seed: 4 }),
        mixedPlayers(two, waits),
        createGenerator(4),
      );
      const episodes = createEpisodeCollector().push(await rollout.collect(6));
      const { present } = optimaOf(two, rules, waits, episodes, 0);
      const partsAt = (e: number, t: number) => {
        const parts = allocateGrid(grid, 2, 1);
        grid.see(episodes.observations, (e * episodes.steps + t) * 2, 0, parts, 0);
        return parts;
      };
      const boardOf = ({ things, fixed }: GridArrays): Board => {
        return { stags: things.slice(0, 9), hares: things.slice(9), obstacles: fixed };
      };
      const result = allocateStepArrays(two, 1);
      const [state, after] = [new Int32Array(two.stateSize), allocateGrid(grid, 2, 1)];
      let row = 0;
      let met = 0;
      for (let e = 0; e < episodes.envs; e++) {
        const otherType = episodes.extras['types'].data[e * episodes.steps * 2 + 1];
        const first = partsAt(e, 0);
        const isStart = (cell: number) => first.things[cell] + first.things[9 + cell] === 0 && cell !== first.cells[1];
        let weights = [0, 1].map(() => Float64Array.from({ length: 9 }, (_, cell) => (isStart(cell) ? 1 : 0)));
        for (let t = 0; t < episodes.lengths[e]; t++) {
          if (episodes.active[(e * episodes.steps + t) * 2] === 0) break;
          const parts = partsAt(e, t);
          const [own, other] = parts.cells;
          const board = boardOf(parts);
          const [stag, hare] = weights.map((byCell) => byCell[own]);
          const [bySt, byHa] = [0, 1].map((type) => rules.distribution(type, board, own, own === other));
          for (let k = 0; k < 7; k++) {
            expect(present[row * 7 + k]).toBeCloseTo((stag * bySt[k] + hare * byHa[k]) / (stag + hare), 10);
          }
          row++;
          if (t + 1 === episodes.lengths[e]) break;
          const next = partsAt(e, t + 1);
          const otherAction = episodes.actions[(e * episodes.steps + t) * 2 + 1];
          weights = [0, 1].map((type) => {
            const reached = new Float64Array(9);
            for (let cell = 0; cell < 9; cell++) {
              const isWithOther = cell === other;
              if (isWithOther && weights[type][cell] > 0) met++;
              const others = other === 9 ? 1 : rules.distribution(otherType, board, other, isWithOther)[otherAction];
              rules.distribution(type, board, cell, isWithOther).forEach((p, action) => {
                if (p * others * weights[type][cell] === 0) return;
                grid.write({ ...parts, cells: Int32Array.of(cell, other) }, 0, state, 0);
                two.step(state, 0, Int32Array.of(action, otherAction), 0, createGenerator(1), result, 0);
                grid.read(state, 0, after, 0);
                const isSame = after.cells[1] === next.cells[1] && after.things.join() === next.things.join();
                if (isSame && after.cells[0] < 9) reached[after.cells[0]] += p * others * weights[type][cell];
              });
            }
            return reached;
          });
        }
      }
      expect(row * 7).toBe(present.length);
      expect(met).toBeGreaterThan(20);
    },
  );

  it.each(['hunt', 'stay'] as const)('is calibrated and grows with the information, waiting by %s', async (waits) => {
    const rules = playerRules(game, waits);
    const rollout = createRollout(
      vectorEnv(game, { envs: 128, seed: 5 }),
      mixedPlayers(game, waits),
      createGenerator(5),
    );
    const episodes = createEpisodeCollector().push(await rollout.collect(30));
    const sums = { type: 0, history: 0, present: 0, stateOnly: 0 };
    const outcome = { expected: 0, happened: 0, variance: 0, impossible: 0 };
    for (const seat of [0, 1, 2]) {
      const optima = optimaOf(game, rules, waits, episodes, seat);
      const actions = moaRows(episodes, seat)['actions'].data;
      for (let row = 0; row < actions.length; row++) {
        const at = (of: Float64Array, k: number) => of[row * 7 + k];
        if (!(at(optima.present, actions[row]) > 0)) outcome.impossible++;
        const guess = (of: Float64Array) =>
          [...of.subarray(row * 7, row * 7 + 7)].indexOf(Math.max(...of.subarray(row * 7, row * 7 + 7)));
        sums.type += at(optima.type, guess(optima.type));
        sums.history += at(optima.history, guess(optima.history));
        sums.present += at(optima.present, guess(optima.present));
        sums.stateOnly += at(optima.present, guess(optima.stateOnly));
        const p = at(optima.present, guess(optima.present));
        outcome.expected += p;
        outcome.happened += actions[row] === guess(optima.present) ? 1 : 0;
        outcome.variance += p * (1 - p);
      }
    }
    expect(outcome.impossible).toBe(0);
    expect(sums.type).toBeGreaterThan(sums.history);
    expect(sums.history).toBeGreaterThan(sums.present);
    expect(sums.present).toBeGreaterThanOrEqual(sums.stateOnly);
    // Samples of an episode hang together; four standard deviations of independent ones are a wide enough bound here.
    expect(Math.abs(outcome.happened - outcome.expected)).toBeLessThan(4 * Math.sqrt(outcome.variance));
  });
});

describe('symmetries of the board', () => {
  it('are eight, and turn moves with the board', () => {
    const symmetries = squareSymmetries(4, 7);
    expect(new Set(symmetries.map(({ cells }) => cells.join())).size).toBe(8);
    const { target } = playerRules(game, 'hunt');
    for (const { cells, actions } of symmetries) {
      for (let cell = 0; cell < 16; cell++) {
        for (let action = 0; action < 7; action++)
          expect(target(cells[cell], actions[action])).toBe(cells[target(cell, action)]);
      }
    }
  });

  it('leave rows legal', async () => {
    const rollout = createRollout(
      vectorEnv(game, { envs: 8, seed: 1 }),
      mixedPlayers(game, 'hunt'),
      createGenerator(1),
    );
    const rows = moaRows(await rollout.collect(20), 0);
    const turned = turnedRows(rows, createGenerator(1));
    expect(turned['actions'].data).not.toEqual(rows['actions'].data);
    turned['actions'].data.forEach((action: number, row: number) => {
      expect(turned['masks'].data[row * 7 + action]).toBe(1);
    });
  });
});
