import { createGenerator, fail, type Generator, type NamedArrays, type SavedState } from '@coplay/core';
import { adam, type Compiled, compile, type Variables, variables } from '@coplay/tensor';
import { type Critic, createCritic } from './critic';
import { createPolicy, type Policy } from './policy';
import type { PpoSetup } from './setup';
import { ppoStep } from './step';

/** Parameters on the backend and the functions over them. Acting and training see the same weights. */
export interface PpoNetworks {
  readonly params: Variables;
  readonly slots: Variables;
  readonly policy: Policy;
  readonly critic: Critic;
  /** {@link ppoStep}; a step whose loss or gradient isn't finite leaves everything as it was. */
  readonly step: Compiled;
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
  const { net, actorEncoder, criticEncoder, options, executor } = setup;
  const live = { params: variables(params), slots: variables(slots) };
  const policy = createPolicy({ net, encoder: actorEncoder, params: live.params, executor });
  const critic = createCritic({ net, encoder: criticEncoder, params: live.params, executor });
  const step = compile(ppoStep(net, optimiserOf(setup), options), {
    name: 'ppo/step',
    state: live,
    executor,
    acceptState: isFiniteStep,
  });
  return {
    ...live,
    policy,
    critic,
    step,
    dispose: () => {
      for (const part of [policy, critic, step, live.params, live.slots]) part.dispose();
    },
  };
}

/** Whether loss and gradient of a step are finite. */
export function isFiniteStep(outputs: NamedArrays): boolean {
  return Number.isFinite(outputs['loss'].data[0]) && Number.isFinite(outputs['gradientNorm'].data[0]);
}
