import type { Game } from '@coplay/core';
import { ACTION_NAMES } from './actions';
import { snowdriftGoals } from './goals';
import { readLayout, scene, writeLayout } from './layout';
import { legal } from './legal';
import { observationSpec, observe } from './observe';
import { resolveOptions, type SnowdriftOptions } from './options';
import { snowdriftParts } from './parts';
import { createRules, hasDrifts } from './rules';
import { reset } from './start';
import { INFOS, step } from './step';

/**
 * The Markov Snowdrift Game (MSG; Huang et al., ICML 2024): agents walk on a grid and may shovel snow. Every cleared
 * drift pays 6 to all agents and costs its shovellers 4 together, so that each agent prefers that another one shovels;
 * if none does, none is paid. Agents never leave: the episode terminates for all when no drift is left.
 *
 * Actions (K = 6): up, down, left, right, stay, shovel. An illegal action (blocked by a wall or an obstacle, or no
 * drift to shovel) has the effect of staying and is counted in the info `illegal`; the info `shovelled` is 1 for an
 * agent that shovels. Observation: `planes` uint8 [size, size, A + 2] (the observer, the others in cyclic order,
 * obstacles, drifts) and `time` float32 [1], steps done / maxSteps. Rewards of a step: 6 for each drift that is cleared
 * in it, less 4 / k for each of the k agents who cleared one together. Start: obstacles, then agents and drifts on
 * distinct free cells, uniformly; or a map of `.`, `#`, `d` and `1` to `8`.
 *
 * With 4 agents and 6 drifts, the largest return that all can have is 30 each: 36 less a quarter of the costs of 24. An
 * agent that never shovels may earn up to 36, if others do.
 *
 * @throws CoplayError for an option that is unknown or out of range, and for more things than there are cells
 */
export function snowdrift(options: SnowdriftOptions = {}): Game<'int32'> {
  const settings = resolveOptions(options);
  const rules = createRules(settings);
  const { at } = rules;
  return {
    name: 'snowdrift',
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
    step: (state, offset, actions, actionsOffset, _, result, row) =>
      step(rules, state, offset, actions, actionsOffset, result, row),
    legal: (state, offset, agent, mask, maskOffset) => legal(rules, state, offset, agent, mask, maskOffset),
    observe: (state, offset, agent, out, row) => observe(rules, state, offset, agent, out, row),
    isActive: (state, offset) => hasDrifts(rules, state, offset),
    elapsed: (state, offset) => state[offset + at.steps],
    readLayout: (layout, state, offset) => readLayout(rules, layout, state, offset),
    writeLayout: (state, offset) => writeLayout(rules, state, offset),
    scene: (state, offset) => scene(rules, state, offset),
    goals: snowdriftGoals(rules),
    grid: snowdriftParts(rules),
  };
}
