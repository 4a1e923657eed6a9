import type { AgentId, Game, SavedState } from '@coplay/core';
import { checkRecord } from '@coplay/core/checks';
import { type InputEncoder, type InputOptions, inputEncoder } from '@coplay/models';
import { type StateVae, type SubgoalInference, stateVae, subgoalInference } from '@coplay/models/omg';
import { adam, type Compiled, compile, compileScan, type Optimiser, type ScanInputs } from '@coplay/tensor';
import { areFinite } from '../training/finite-steps';
import { Network } from '../training/network';
import { givenNetworks, networkConfigs } from '../training/own-networks';
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
  /** Descriptions of networks of one's own, by option. */
  readonly networks: Record<string, SavedState>;
  /** As JSON, for run directories. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** Name of the extra that tells the networks which co-player is meant. */
export const CO_PLAYER = 'coPlayer';

/** Zeros and ones stay apart from numbers, since they are reconstructed by their chances. */
const READING = { flags: 'apart' } as const;

/**
 * Checks options and builds networks. Nothing is drawn.
 *
 * @throws CoplayError for a network of your own that doesn't fit, before anything is made
 */
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
  const { encoderNetwork, decoderNetwork, inferenceNetwork, store: _, ...numbers } = settings;
  const networks = givenNetworks({ encoderNetwork, decoderNetwork, inferenceNetwork });
  const configs = networkConfigs(networks);
  const net = {
    ...{ goalDim, hidden, stateUnits, historyUnits, loss, occupiedWeight, reduction, klWeight, ...networks },
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
    config: { algorithm: 'omg', id, ...numbers, ...configs },
    networks: configs,
  };
}

/** Entries of the vector after the observation's fields. */
function flagsOf(game: Game, { fields }: InputOptions, { shapes }: InputEncoder): number {
  const seen = inputEncoder(game, fields ? { fields } : {}, READING).shapes;
  return (shapes['vector']?.[0] ?? 0) - (seen['vector']?.[0] ?? 0);
}

/** Groups of parameters: of both networks, and of their optimisers. */
export type OmgGroup = 'vae' | 'vaeSlots' | 'inference' | 'inferenceSlots';

/** The functions of tensors that OMG runs. */
export interface OmgFunctions {
  readonly trainVae: Compiled<ScanInputs>;
  readonly trainInference: Compiled<ScanInputs>;
  readonly infer: Compiled;
  readonly encode: Compiled;
}

/** Parameters of the state VAE and of the inference, their optimisers' slots, and the functions over them. */
export type OmgNetwork = Network<OmgGroup, OmgFunctions>;

/** A network without parameters as yet. */
export function omgNetwork(setup: OmgSetup): OmgNetwork {
  const { optimiser } = setup;
  const { executor } = setup.settings;
  const common = { executor, acceptState: areFinite };
  return new Network({
    name: `OMG (${setup.id})`,
    init: (generator) => {
      const vae = setup.vae.init(generator.fork());
      const inference = setup.inference.init(generator.fork());
      return { vae, vaeSlots: optimiser.init(vae), inference, inferenceSlots: optimiser.init(inference) };
    },
    slots: ['vaeSlots', 'inferenceSlots'],
    functions: ({ vae, vaeSlots, inference, inferenceSlots }) => ({
      trainVae: compileScan(vaeStep(setup), { name: 'omg/vae', state: { vae, vaeSlots }, ...common }),
      trainInference: compileScan(inferenceStep(setup), {
        name: 'omg/inference',
        state: { vae, inference, inferenceSlots },
        ...common,
      }),
      infer: compile(inferStep(setup), { name: 'omg/infer', state: { inference }, executor }),
      encode: compile(encodeStep(setup), { name: 'omg/encode', state: { vae }, executor }),
    }),
  });
}
