export { createOutcomeStore, type OutcomeStore } from './outcomes';
export { gridTransitions, observationRows, observationTransitions } from './rows';
export { createTransitionStore, loadTransitions, type TransitionStore } from './store';
