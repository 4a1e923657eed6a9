export { createOutcomeStore, type OutcomeStore, type OutcomeStoreOptions } from './outcomes';
export { gridTransitions, observationTransitions } from './rows';
export { createTransitionStore, loadTransitions, type TransitionStore, type TransitionStoreOptions } from './store';
