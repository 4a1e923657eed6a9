import type { PpoOptions } from './options';

/** Settings that are known to work, by the field's names for them. Spread one and change what you like. */
export const ppoPresets = {
  /**
   * The Markov Stag Hunt. A high discount and a large, annealed entropy bonus are what leads past the equilibrium in
   * which everyone takes a hare; docs/stag-hunt.md shows it. For 32 environments x 32 steps.
   */
  stagHunt: {
    gamma: 0.99,
    lambda: 0.95,
    learningRate: { from: 1e-3, to: 0 },
    entropyWeight: { from: 0.1, to: 0 },
    epochs: 4,
    minibatchSize: 256,
    valueClip: false,
  },
  /** ppo.py of CleanRL: 4 environments x 128 steps, time limits treated as the end. */
  cleanRl: {
    truncation: 'terminal',
    minibatchSize: 128,
  },
  /** RL Zoo's settings of PPO for CartPole-v1: 8 environments x 32 steps. */
  cartPole: {
    gamma: 0.98,
    lambda: 0.8,
    learningRate: { from: 1e-3, to: 0 },
    entropyWeight: 0,
    clip: { from: 0.2, to: 0 },
    valueClip: false,
    epochs: 20,
    minibatchSize: 256,
  },
  /** The on-policy repository of MAPPO and IPPO (Yu et al. 2022). */
  mappo: {
    learningRate: 5e-4,
    valueWeight: 1,
    huberDelta: 10,
    normaliseValues: true,
    normaliseAdvantages: 'update',
    epochs: 15,
    minibatchSize: 1_000_000,
    clipNorm: 10,
  },
} as const satisfies Record<string, PpoOptions>;
