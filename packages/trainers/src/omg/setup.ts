import { type AgentId, checkRecord, createGenerator, type Game, type Generator, type NamedArrays } from '@coplay/core';
import {
  type InputEncoder,
  type InputOptions,
  inputEncoder,
  type StateVae,
  type SubgoalInference,
  stateVae,
  subgoalInference,
} from '@coplay/models';
import {
  adam,
  type Compiled,
  compile,
  compileScan,
  type Optimiser,
  type ScanInputs,
  type Variables,
  variables,
} from '@coplay/tensor';
import { areFinite } from '../training/finite-steps';
import { checkSavedArrays } from '../training/saved-arrays';
import { type OmgOptions, type OmgSettings, omgSettings } from './options';
import { encodeStep, inferenceStep, inferStep, vaeStep } from './steps';

/** Everything that's fixed before the first parameter is drawn. */
export interface OmgSetup {
  readonly game: Game;
  readonly id: AgentId;
  /** The observer's. */
  readonly seat: number;
  /** Of the co-players, in cyclic order from the observer's. */
  readonly others: readonly number[];
  readonly settings: OmgSettings;
  readonly encoder: InputEncoder;
  readonly vae: StateVae;
  readonly inference: SubgoalInference;
  readonly optimiser: Optimiser;
  /** As JSON, for run directories. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** Name of the extra by which networks are told which co-player is meant. */
export const CO_PLAYER = 'coPlayer';

/** Zeros and ones stay apart from numbers, since they are reconstructed by their chances. */
const READING = { flags: 'apart' } as const;

/** Checks options and builds networks. Nothing is drawn. */
export function omgSetup(where: string, options: OmgOptions): OmgSetup {
  checkRecord(where, 'options', options);
  const { game, id } = options;
  const settings = omgSettings(where, options);
  const count = game.agents.length;
  const seat = game.agents.indexOf(id);
  const isNamed = settings.coPlayerId && count > 1;
  const { inputs } = settings;
  const named = { ...inputs, ...(isNamed && { extras: { [CO_PLAYER]: count - 1 } }) };
  const encoder = inputEncoder(game, named, { ...READING, assumed: settings.loss === 'reconstruction' });
  const { goalDim, hidden, stateUnits, historyUnits, loss, occupiedWeight, reduction, klWeight } = settings;
  const net = {
    ...{ goalDim, hidden, stateUnits, historyUnits, loss, occupiedWeight, reduction, klWeight },
    inputs: encoder.shapes,
    kinds: encoder.kinds,
    flags: flagsOf(game, inputs, encoder),
    actions: game.actions,
  };
  return {
    ...{ game, id, seat, settings, encoder },
    others: Array.from({ length: count - 1 }, (_, i) => (seat + 1 + i) % count),
    vae: stateVae(net),
    inference: subgoalInference(net),
    optimiser: adam(settings.clipNorm === false ? {} : { clipNorm: settings.clipNorm }),
    config: { algorithm: 'omg', id, ...settings },
  };
}

/** Numbers of the vector behind those of the observation's fields. */
function flagsOf(game: Game, { fields }: InputOptions, { shapes }: InputEncoder): number {
  const seen = inputEncoder(game, fields ? { fields } : {}, READING).shapes;
  return (shapes['vector']?.[0] ?? 0) - (seen['vector']?.[0] ?? 0);
}

/** Groups of parameters: of both networks, and of their optimisers. */
export type OmgGroup = 'vae' | 'vaeSlots' | 'inference' | 'inferenceSlots';

/** Parameters, and the functions over them. */
export interface OmgNetworks {
  readonly groups: Readonly<Record<OmgGroup, Variables>>;
  readonly trainVae: Compiled<ScanInputs>;
  readonly trainInference: Compiled<ScanInputs>;
  readonly infer: Compiled;
  readonly encode: Compiled;
  dispose(): void;
}

/** Fresh parameters of both networks and their optimisers. */
export function freshParameters({ vae, inference, optimiser }: OmgSetup, generator: Generator) {
  const first = vae.init(generator.fork());
  const second = inference.init(generator.fork());
  return {
    vae: first,
    vaeSlots: optimiser.init(first),
    inference: second,
    inferenceSlots: optimiser.init(second),
  };
}

/**
 * Compiles the functions over these parameters.
 *
 * @throws CoplayError for parameters of other networks
 */
export function omgNetworks(setup: OmgSetup, arrays: Readonly<Record<OmgGroup, NamedArrays>>): OmgNetworks {
  const expected = freshParameters(setup, createGenerator(0));
  for (const group of Object.keys(expected) as OmgGroup[]) {
    checkSavedArrays(`OMG (${setup.id}): restore`, `saved.${group}`, expected[group], arrays[group]);
  }
  const { executor } = setup.settings;
  const groups = {
    vae: variables(arrays.vae),
    vaeSlots: variables(arrays.vaeSlots),
    inference: variables(arrays.inference),
    inferenceSlots: variables(arrays.inferenceSlots),
  };
  const { vae, vaeSlots, inference, inferenceSlots } = groups;
  const functions = {
    trainVae: compileScan(vaeStep(setup), {
      name: 'omg/vae',
      state: { vae, vaeSlots },
      executor,
      acceptState: areFinite,
    }),
    trainInference: compileScan(inferenceStep(setup), {
      name: 'omg/inference',
      state: { vae, inference, inferenceSlots },
      executor,
      acceptState: areFinite,
    }),
    infer: compile(inferStep(setup), { name: 'omg/infer', state: { inference }, executor }),
    encode: compile(encodeStep(setup), { name: 'omg/encode', state: { vae }, executor }),
  };
  const dispose = () => {
    for (const part of [...Object.values(functions), ...Object.values(groups)]) part.dispose();
  };
  return { groups, ...functions, dispose };
}
