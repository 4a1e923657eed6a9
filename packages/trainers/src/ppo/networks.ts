import { createGenerator, fail, type Generator, type NamedArrays, type SavedState } from '@coplay/core';
import {
  adam,
  type Compiled,
  compile,
  mergeRows,
  type StepFunction,
  type Variables,
  variables,
} from '@coplay/tensor';
import { type Critic, createCritic, valueStep } from './critic';
import { actStep, createPolicy, type Policy } from './policy';
import type { PpoSetup } from './setup';
import { ppoStep } from './step';

/** The three functions of tensors that PPO runs. */
export interface PpoFunctions {
  /** {@link actStep} */
  readonly act: Compiled;
  /** {@link valueStep} */
  readonly value: Compiled;
  /** {@link ppoStep}; a step whose loss or gradient isn't finite leaves everything as it was. */
  readonly step: Compiled;
}

/** Parameters and the functions over them. Acting and training see the same weights. */
export interface PpoNetworks {
  readonly params: Variables;
  readonly slots: Variables;
  readonly policy: Policy;
  readonly critic: Critic;
  readonly functions: PpoFunctions;
  /** Replaces the functions by others over the same parameters, and disposes of those before; see `stackLearners`. */
  use(functions: PpoFunctions): void;
  dispose(): void;
}

/** Fresh parameters. */
export async function freshNetworks(setup: PpoSetup, generator: Generator): Promise<PpoNetworks> {
  const params = setup.net.init(generator);
  return buildNetworks(setup, params, optimiserOf(setup).init(params));
}

/**
 * Parameters and optimiser slots as they were saved.
 *
 * @throws CoplayError for those of another network
 */
export async function savedNetworks(setup: PpoSetup, saved: SavedState): Promise<PpoNetworks> {
  const params = saved['params'] as unknown as NamedArrays;
  const slots = saved['slots'] as unknown as NamedArrays;
  const expected = setup.net.init(createGenerator(0));
  checkShapes(setup, expected, params);
  checkShapes(setup, optimiserOf(setup).init(expected), slots);
  return buildNetworks(setup, params, slots);
}

function checkShapes({ ids }: PpoSetup, expected: NamedArrays, saved: NamedArrays | undefined): void {
  const shapeIn = (arrays: NamedArrays | undefined, name: string) => {
    const array = arrays?.[name];
    return array ? `${name} of shape [${array.shape}]` : `no ${name}`;
  };
  const names = new Set([...Object.keys(expected), ...Object.keys(saved ?? {})]);
  const odd = [...names].find((name) => shapeIn(expected, name) !== shapeIn(saved, name));
  if (odd === undefined) return;
  const remedy = 'Make the agent with the game, network and options that it was saved with.';
  fail(`PPO (${ids.join(', ')}): restore`, shapeIn(expected, odd), shapeIn(saved, odd), remedy);
}

function optimiserOf({ options }: PpoSetup) {
  const clipping = options.clipNorm === false ? {} : { clipNorm: options.clipNorm };
  return adam({ epsilon: options.adamEpsilon, ...clipping });
}

async function buildNetworks(setup: PpoSetup, params: NamedArrays, slots: NamedArrays): Promise<PpoNetworks> {
  const { net, actorEncoder, criticEncoder } = setup;
  const live = { params: variables(params), slots: variables(slots) };
  let functions = ownFunctions(setup, live);
  return {
    ...live,
    policy: createPolicy({ net, encoder: actorEncoder, run: () => functions.act }),
    critic: createCritic({ net, encoder: criticEncoder, run: () => functions.value }),
    get functions() {
      return functions;
    },
    use: (others) => {
      disposeAll(functions);
      functions = others;
    },
    dispose: () => {
      disposeAll(functions);
      for (const part of Object.values(live)) part.dispose();
    },
  };
}

function disposeAll(functions: PpoFunctions): void {
  for (const part of Object.values(functions)) part.dispose();
}

/** Functions over one set of parameters. What several agents that share them ask in one turn is answered in one batch. */
function ownFunctions(setup: PpoSetup, state: Record<'params' | 'slots', Variables>): PpoFunctions {
  const { net, executor } = setup;
  const { params } = state;
  return {
    act: mergeRows(compile(actStep(net), { name: 'ppo/act', state: { params }, executor })),
    value: mergeRows(compile(valueStep(net), { name: 'ppo/value', state: { params }, executor })),
    step: compile(stepOf(setup), { name: 'ppo/step', state, executor, acceptState: isFiniteStep }),
  };
}

/** The function of tensors that updates a learner's parameters. */
export function stepOf(setup: PpoSetup): StepFunction<'params' | 'slots'> {
  return ppoStep(setup.net, optimiserOf(setup), setup.options);
}

/** Whether loss and gradient of a step are finite. */
export function isFiniteStep(outputs: NamedArrays): boolean {
  return Number.isFinite(outputs['loss'].data[0]) && Number.isFinite(outputs['gradientNorm'].data[0]);
}
