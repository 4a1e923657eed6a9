import { type AgentInput, type AgentStep, type Game, vectorEnv } from '@coplay/core';

/** What the agent in the first seat acts on, at the start of one episode. */
export function firstInput(game: Game): AgentInput {
  const env = vectorEnv(game, { envs: 1 });
  const views = Object.entries(env.observations).map(([name, data]) => {
    return [name, data.slice(0, data.length / game.agents.length)] as const;
  });
  return {
    rows: 1,
    observations: Object.fromEntries(views),
    masks: env.masks.slice(0, game.actions),
    active: Uint8Array.of(1),
    isFirst: Uint8Array.of(1),
    previousActions: new Int32Array(game.agents.length).fill(-1),
  };
}

/** A step of one environment in which all agents took action 0. */
export function firstStep({ agents, infos }: Game): AgentStep {
  return {
    rows: 1,
    actions: new Int32Array(agents.length),
    active: new Uint8Array(agents.length).fill(1),
    rewards: new Float32Array(agents.length),
    ended: Uint8Array.of(0),
    terminated: new Uint8Array(agents.length),
    infos: Object.fromEntries(infos.map((name) => [name, new Float32Array(agents.length)])),
  };
}
