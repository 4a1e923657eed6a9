export { type ActorCritic, type ActorCriticOptions, actorCritic, type PolicyStep } from './actor-critic';
export type { RecordedRows } from './recorded-rows';
