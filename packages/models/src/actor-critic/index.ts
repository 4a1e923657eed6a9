export { type ActorCritic, type ActorCriticOptions, actorCritic } from './actor-critic';
export type { RecordedRows } from './recorded-rows';
