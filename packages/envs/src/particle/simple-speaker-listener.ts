import { type BoxSpace, checkOptions, type Game } from '@coplay/core';
import { z } from 'zod';
import { stepLimit } from '../game';
import { drawPositions, pairsOf, particleGame, seePosition } from './particle-game';
import { COVERED } from './simple-spread';
import { distanceOf, POSITIONS, sizeOfWorld, velocitiesOf, type World } from './world';

/** Options of {@link simpleSpeakerListener}. */
export interface SimpleSpeakerListenerOptions {
  /** Steps after which an episode is truncated, 1 to 1,000,000. Default 25 */
  readonly maxSteps?: number | undefined;
  /** Whether actions are boxes: three numbers of the speaker, five of the listener. Default false: discrete actions */
  readonly continuousActions?: boolean | undefined;
}

const schema = z.object({ maxSteps: stepLimit.default(25), continuousActions: z.boolean().default(false) }).strict();

const SPEAKER = 0;
const LISTENER = 1;
/** A */
const AGENTS = 2;
const LANDMARKS = 3;
const WORDS = 3;
const world: World = {
  agents: AGENTS,
  landmarks: LANDMARKS,
  sizes: [0.075, 0.075, 0.04, 0.04, 0.04],
  collides: [false, false, false, false, false],
  forces: [0, 5],
  maxSpeeds: [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
};
const VELOCITIES = velocitiesOf(world);
/** Where the state has the word of the last step, and the number of the landmark that is the target. */
const HEARD = sizeOfWorld(world);
const TARGET = HEARD + WORDS;
const WIDTH = 2 + 2 * LANDMARKS + WORDS;
/** Of the landmark that is the target, in what the speaker sees: this, and this elsewhere. */
const BRIGHT = 0.65;
const DARK = 0.15;

/**
 * simple_speaker_listener of the multi-particle environments (Lowe et al. 2017; simple_speaker_listener_v4 of mpe2):
 * the speaker sees which of three landmarks is the target, and can't move. The listener hears its words, and moves.
 *
 * Actions of `listener_0`: stay, left, right, down, up, a force of 5 on a mass of 1 for a time of 0.1. Actions of
 * `speaker_0`: words 0 to 2; actions 3 and 4 are illegal, and silence. With `continuousActions` the listener has five
 * numbers from 0 to 1, of which the force is 5 times (third - second, fifth - fourth), and the speaker three, which the
 * listener hears. Observation: `vector` float32 [11]. Of the listener: its velocity, the landmarks' positions relative
 * to it, and the word of the last step. Of the speaker: 0.65 at the number of the target and 0.15 at the two others,
 * then zeros. Rewards: the negative squared distance of listener and target, for both. Start: positions uniform in
 * [-1, 1), at rest, any landmark the target. End: truncated after 25 steps. Goals: the landmarks, reached by the
 * listener within 0.1.
 *
 * @throws CoplayError for an option that is unknown or out of range
 */
export function simpleSpeakerListener(
  options: SimpleSpeakerListenerOptions & { readonly continuousActions: true },
): Game<'float64', Readonly<Record<string, BoxSpace>>>;
export function simpleSpeakerListener(
  options?: SimpleSpeakerListenerOptions & { readonly continuousActions?: false | undefined },
): Game<'float64'>;
export function simpleSpeakerListener(options: SimpleSpeakerListenerOptions = {}): unknown {
  const settings = checkOptions('simpleSpeakerListener', schema, options);
  const { maxSteps, continuousActions } = settings;
  const landmarks = Array.from({ length: LANDMARKS }, (_, i) => `landmark ${i}`);
  return particleGame({
    name: 'simple-speaker-listener',
    agents: ['speaker_0', 'listener_0'],
    world,
    words: WORDS,
    stateSize: TARGET + 1,
    heard: HEARD,
    isContinuous: continuousActions,
    maxSteps,
    options: { ...settings },
    channels: [...pairsOf(['velocity', ...landmarks]), ...Array.from({ length: WORDS }, (_, i) => `word ${i}`)],
    goals: {
      names: landmarks,
      readsStates: true,
      reached({ agent, after }) {
        if (agent !== LISTENER) return -1;
        for (let i = 0; i < LANDMARKS; i++) if (distanceOf(after, 0, agent, AGENTS + i) < COVERED) return i;
        return -1;
      },
    },
    start(state, offset, generator) {
      state[offset + TARGET] = generator.integer(LANDMARKS);
      drawPositions(state, offset, 0, AGENTS + LANDMARKS, 1, generator);
    },
    pay(state, offset, rewards, at) {
      const listener = offset + POSITIONS + 2 * LISTENER;
      const target = offset + POSITIONS + 2 * (AGENTS + state[offset + TARGET]);
      const squared = (state[listener] - state[target]) ** 2 + (state[listener + 1] - state[target + 1]) ** 2;
      for (let agent = 0; agent < AGENTS; agent++) rewards[at + agent] = -squared;
    },
    see(state, offset, agent, out, at) {
      out.fill(0, at, at + WIDTH);
      if (agent === SPEAKER) {
        for (let i = 0; i < LANDMARKS; i++) out[at + i] = i === state[offset + TARGET] ? BRIGHT : DARK;
        return;
      }
      out[at] = state[offset + VELOCITIES + 2 * agent];
      out[at + 1] = state[offset + VELOCITIES + 2 * agent + 1];
      let next = at + 2;
      for (let i = 0; i < LANDMARKS; i++) next = seePosition(state, offset, agent, AGENTS + i, out, next);
      for (let word = 0; word < WORDS; word++) out[next + word] = state[offset + HEARD + word];
    },
    landmarkOf: (state, offset, landmark) => ({
      kind: landmark === state[offset + TARGET] ? 'target' : 'landmark',
      symbol: 'abc'[landmark],
    }),
  });
}
