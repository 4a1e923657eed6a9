import { type NamedArrays, ndarray } from '@coplay/core';
import { encodeSequence, type RssmState } from '@coplay/models/dreamer';
import { tf, useBackend, valueAndGradients } from '@coplay/tensor';
import { useThreads } from '@coplay/tensor/threads';
import { beforeAll, describe, expect, it } from 'vitest';
import { byGroup, criticOf, dreamerNetwork, dreamerOptimiser, jointLoss } from './algorithm';
import { behaviourLoss } from './behaviour';
import { batchOf, noiseOf, startingCoPlayers, startOf } from './data';
import { imagineSequence } from './imagination';
import type { DreamerLossScales } from './options';
import { smallBatch, smallParts, stirred, tensorsOf } from './test-batch';

beforeAll(async () => {
  await useBackend('cpu');
  useThreads(1); // no trials
});

const M = 2;
const NONE: Required<DreamerLossScales> = {
  ...{ dynamics: 0, representation: 0, reconstruction: 0, reward: 0, continue: 0, legal: 0, coPlayers: 0 },
  ...{ policy: 0, value: 0, replayValue: 0 },
};
const zeros = () => ({ low: ndarray(new Float32Array(1), []), high: ndarray(new Float32Array(1), []) });

/** The modules that one loss alone would move. */
function moved(loss: keyof DreamerLossScales): string[] {
  const parts = smallParts({ freeNats: 0, lossScales: { ...NONE, [loss]: 1 } }, M);
  const params = tensorsOf(stirred(parts.nets));
  const state = { slow: criticOf(params), range: tensorsOf(zeros()) } as never;
  const { gradients } = valueAndGradients((own) => jointLoss(parts, state, own, tensorsOf(smallBatch(parts))), params);
  const names = Object.keys(gradients).filter((name) => gradients[name].dataSync().some((x) => x !== 0));
  return [...new Set(names.map((name) => name.split('/')[0]))].sort();
}

describe('gradients where co-players are modelled', () => {
  it.each([
    ['coPlayers', ['dyn', 'enc', 'moa']],
    ['policy', ['pol']],
    ['value', ['val']],
    ['replayValue', ['dyn', 'enc', 'val']],
    ['reward', ['dyn', 'enc', 'rew']],
    ['dynamics', ['dyn', 'enc']],
  ] as const)('%s reaches %j alone', (loss, modules) => {
    expect(moved(loss)).toEqual(modules);
  });
});

describe('the joint action', () => {
  const parts = smallParts({}, M);
  const drawn = () => tensorsOf(stirred(parts.nets));
  const [B, T] = [2, 4];

  /** h of each step, where a co-player did something else before observation `t` of the first sequence. */
  function deterAfter(t: number, coPlayer: number): number[][][] {
    const batch: NamedArrays = { ...smallBatch(parts), isFirst: ndarray(new Float32Array(B * T), [B, T]) };
    const { data, shape } = batch['coPlayerActions'];
    const changed = Int32Array.from(data);
    if (t >= 0) changed[t * M + coPlayer] = (changed[t * M + coPlayer] + 1) % 3;
    const inputs = tensorsOf({ ...batch, coPlayerActions: ndarray(changed, [...shape]) });
    const noise = inputs['noise/posterior'] as tf.Tensor3D;
    const { states } = encodeSequence(parts.nets, drawn(), batchOf(parts, inputs), startOf(parts, inputs), noise);
    return states.deter.arraySync() as number[][][];
  }

  it.each([0, 1])('of co-player %i moves the state that it led to, none before and no other sequence', (coPlayer) => {
    const as = deterAfter(-1, coPlayer);
    const other = deterAfter(2, coPlayer);
    expect(other[0].slice(0, 2)).toEqual(as[0].slice(0, 2));
    expect(other[0][2]).not.toEqual(as[0][2]);
    expect(other[1]).toEqual(as[1]);
  });

  it('in imagination is without those who had left where it began', () => {
    const given = smallBatch(parts);
    const params = drawn();
    // Everyone takes action 0 or 1 wherever they are: no draw makes anybody leave.
    params['moa/head/kernel'] = tf.zerosLike(params['moa/head/kernel']);
    params['moa/head/bias'] = tf.tensor1d([0, 0, -50, -50, 0, 0, -50, -50]);
    const lossWith = (active: Uint8Array) => {
      const batch = tensorsOf({ ...given, coPlayersActive: ndarray(active, [B, T, M]) });
      const starts = { deter: tf.zeros([B * T, 8]), stoch: tf.zeros([B * T, 2, 4]) } as RssmState;
      const memory = { slow: criticOf(params), range: tensorsOf(zeros()) } as never;
      const imagined = imagineSequence(parts.nets, params, starts, noiseOf(batch), startingCoPlayers(parts, batch));
      return behaviourLoss(parts, params, memory, imagined, tf.scalar(0)).startReturns.arraySync();
    };
    const all = lossWith(new Uint8Array(B * T * M).fill(1));
    const active = new Uint8Array(B * T * M).fill(1);
    active[5 * M + 1] = 0; // the second co-player in the second step of the second sequence
    const without = lossWith(active);
    expect(without.map((x, i) => x !== all[i])).toEqual([false, false, false, false, false, true, false, false]);
  });
});

describe.each(['joint', 'coupled', 'world', 'behaviour'] as const)('the update %s with co-players', (kind) => {
  it('is the same on the eager and the compiled executor', { tags: ['slow'] }, async () => {
    const run = async (executor: 'eager' | 'onnx') => {
      const parts = smallParts({}, M);
      const { world, behaviour } = byGroup(stirred(parts.nets));
      const optimiser = dreamerOptimiser(parts);
      const slots = { worldSlots: optimiser.init(world), behaviourSlots: optimiser.init(behaviour) };
      const arrays = { world, behaviour, slow: criticOf(behaviour), range: zeros(), ...slots };
      const network = dreamerNetwork({ ...parts, executor }, 'test');
      network.takeOver('test', 'saved', arrays).keep();
      const outputs = (await network.functions[kind](smallBatch(parts))) as NamedArrays;
      const after = { ...(await network.groups.world.read()), ...(await network.groups.behaviour.read()) };
      network.dispose();
      return { outputs, after };
    };
    const [eager, compiled] = [await run('eager'), await run('onnx')];
    expect('loss/moa' in eager.outputs).toBe(kind !== 'behaviour');
    for (const [name, { data }] of Object.entries(eager.outputs)) {
      const scale = Math.max(1, ...Array.from(data, Math.abs));
      data.forEach((x, i) => {
        expect(Math.abs(x - compiled.outputs[name].data[i]), name).toBeLessThan(2e-4 * scale);
      });
    }
    for (const [name, { data }] of Object.entries(eager.after)) {
      data.forEach((x, i) => void expect(Math.abs(x - compiled.after[name].data[i]), name).toBeLessThan(2e-4));
    }
  });
});
