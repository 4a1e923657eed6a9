import type { Game } from '@coplay/core';
import { ACTION_NAMES } from './actions';
import { readLayout, scene, writeLayout } from './layout';
import { legal } from './legal';
import { observationSpec, observe } from './observe';
import { resolveOptions, type StagHuntOptions } from './options';
import { EVENTS, eventOf, isOpen, stagHuntParts } from './parts';
import { createRules, GONE } from './rules';
import { reset } from './start';
import { INFOS, step } from './step';

/**
 * The Markov Stag Hunt (MSH; Huang et al., ICML 2024): agents walk on a grid and hunt. A hare feeds one hunter and
 * needs no help; a stag pays ten times as much and takes two hunters in the same step. Who caught something leaves.
 * docs/stag-hunt.md has the rules in full.
 *
 * Actions (K = 7): up, down, left, right, stay, hunt stag, hunt hare.
 * Observation: `planes` uint8 [size, size, A + 3] (the observer, the others in cyclic order, obstacles, stags, hares)
 * and `time` float32 [1], steps done / maxSteps; with the option `previousActions` also that, float32 [A * 7].
 *
 * @throws CoplayError for an option that is unknown, out of range, or at odds with another one
 */
export function stagHunt(options: StagHuntOptions = {}): Game<'int32'> {
  const settings = resolveOptions(options);
  const rules = createRules(settings);
  const { at } = rules;
  const grid = stagHuntParts(rules);
  return {
    name: 'stag-hunt',
    agents: Array.from({ length: settings.agents }, (_, i) => `agent_${i}`),
    actions: ACTION_NAMES.length,
    actionNames: ACTION_NAMES,
    observation: observationSpec(settings),
    stateType: 'int32',
    stateSize: at.size,
    maxSteps: settings.maxSteps,
    infos: INFOS,
    options: { ...settings },
    reset: (state, offset, generator) => reset(rules, state, offset, generator),
    step: (state, offset, actions, actionsOffset, generator, result, row) =>
      step(rules, state, offset, actions, actionsOffset, generator, result, row),
    legal: (state, offset, agent, mask, maskOffset) => legal(rules, state, offset, agent, mask, maskOffset),
    observe: (state, offset, agent, out, row) => observe(rules, state, offset, agent, out, row),
    isActive: (state, offset, agent) => state[offset + at.cells + agent] !== GONE,
    elapsed: (state, offset) => state[offset + at.steps],
    readLayout: (layout, state, offset) => readLayout(rules, layout, state, offset),
    writeLayout: (state, offset) => writeLayout(rules, state, offset),
    scene: (state, offset) => scene(rules, state, offset),
    goals: {
      names: EVENTS,
      reached: ({ action, left }) => eventOf(action, left),
      isOpen: (goal, state, offset) => isOpen(rules, goal, state, offset),
    },
    ...(grid && { grid }),
  };
}
