import * as buffers from '@coplay/buffers';
import * as npz from '@coplay/buffers/npz';
import * as records from '@coplay/buffers/records';
import * as core from '@coplay/core';
import * as arrays from '@coplay/core/arrays';
import * as checks from '@coplay/core/checks';
import * as coreRows from '@coplay/core/rows';
import * as diagnostics from '@coplay/diagnostics';
import * as ablations from '@coplay/diagnostics/ablations';
import * as audits from '@coplay/diagnostics/audits';
import * as statistics from '@coplay/diagnostics/statistics';
import * as worldModel from '@coplay/diagnostics/world-model';
import * as envs from '@coplay/envs';
import * as models from '@coplay/models';
import * as dreamer from '@coplay/models/dreamer';
import * as layers from '@coplay/models/layers';
import * as omg from '@coplay/models/omg';
import * as planning from '@coplay/planning';
import * as python from '@coplay/python';
import * as tensor from '@coplay/tensor';
import * as distributions from '@coplay/tensor/distributions';
import * as onnx from '@coplay/tensor/onnx';
import * as threads from '@coplay/tensor/threads';
import * as trainers from '@coplay/trainers';
import * as checkpoint from '@coplay/trainers/checkpoint';
import * as losses from '@coplay/trainers/losses';
import * as viewer from '@coplay/viewer';
import * as zoo from '@coplay/zoo';
import * as coplay from 'coplay';
import * as createCoplay from 'create-coplay';
import { describe, expect, it } from 'vitest';
import { buffersDoors, npzDoors, recordsDoors } from './buffers';
import { coplayDoors, createCoplayDoors } from './coplay';
import { arraysDoors, checksDoors, coreDoors, rowsDoors } from './core';
import { ablationsDoors, auditsDoors, diagnosticsDoors, statisticsDoors, worldModelDoors } from './diagnostics';
import { type Doors, door, faultsOf } from './doors';
import { envsDoors } from './envs';
import { dreamerDoors, layersDoors, modelsDoors, omgDoors } from './models';
import { networks, networksDoors } from './networks';
import { planningDoors } from './planning';
import { pythonDoors } from './python';
import { distributionsDoors, onnxDoors, tensorDoors, threadsDoors } from './tensor';
import { checkpointDoors, lossesDoors, trainersDoors } from './trainers';
import { viewerDoors } from './viewer';
import { zooDoors } from './zoo';

const packages: readonly [name: string, exported: Readonly<Record<string, unknown>>, doors: Doors][] = [
  ['core', core, coreDoors],
  ['core/checks', checks, checksDoors],
  ['core/arrays', arrays, arraysDoors],
  ['core/rows', coreRows, rowsDoors],
  ['envs', envs, envsDoors],
  ['buffers', buffers, buffersDoors],
  ['buffers/npz', npz, npzDoors],
  ['buffers/records', records, recordsDoors],
  ['tensor', tensor, tensorDoors],
  ['tensor/distributions', distributions, distributionsDoors],
  ['tensor/onnx', onnx, onnxDoors],
  ['tensor/threads', threads, threadsDoors],
  ['models', models, modelsDoors],
  ['models/layers', layers, layersDoors],
  ['models/dreamer', dreamer, dreamerDoors],
  ['models/omg', omg, omgDoors],
  ['what the builders of models return', networks, networksDoors],
  ['planning', planning, planningDoors],
  ['python', python, pythonDoors],
  ['trainers', trainers, trainersDoors],
  ['trainers/losses', losses, lossesDoors],
  ['trainers/checkpoint', checkpoint, checkpointDoors],
  ['viewer', viewer, viewerDoors],
  ['coplay', coplay, coplayDoors],
  ['zoo', zoo, zooDoors],
  ['create-coplay', createCoplay, createCoplayDoors],
  ['diagnostics', diagnostics, diagnosticsDoors],
  ['diagnostics/statistics', statistics, statisticsDoors],
  ['diagnostics/audits', audits, auditsDoors],
  ['diagnostics/ablations', ablations, ablationsDoors],
  ['diagnostics/world-model', worldModel, worldModelDoors],
];

/**
 * Each public function is called with each of its arguments replaced in turn: by null, NaN, an empty array, a cyclic
 * one, a promise and so on. It must refuse what it can't use by an error of ours that names it, and must change
 * nothing.
 */
describe.each(packages)('arguments of %s', (name, exported, doors) => {
  it('has a row for each exported function', () => {
    const functions = Object.keys(exported).filter((key) => typeof exported[key] === 'function');
    expect(Object.keys(doors).sort()).toEqual(functions.sort());
  });

  it('refuses by name what a function cannot use', async () => {
    expect(await faultsOf(exported, doors, !name.startsWith('trainers'))).toEqual({});
  });
});

describe('faultsOf', () => {
  const faultsIn = async (f: (n: number) => void) =>
    (await faultsOf({ f }, { f: door(() => [1], ['number']) }))['f'] ?? [];

  it('finds what is taken in silence', async () => {
    expect(await faultsIn(() => undefined)).toContain('argument 0: null: taken');
  });

  it('finds errors without a name', async () => {
    const faults = await faultsIn((n) => void n.toFixed());
    expect(faults.find((fault) => fault.startsWith('argument 0: null: refused without the name of f'))).toBeDefined();
  });

  it('finds nothing where all is refused by name', async () => {
    expect(await faultsIn((n) => checks.checkNumber('f', 'n', n))).toEqual([]);
  });
});
