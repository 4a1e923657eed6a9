export { type Annealed, anneal } from './annealed';
export { isLearning, type Learner, type LearnerData, type LearningAgent } from './learner';
export type { Lockstep } from './lockstep';
export { findNonFinite, NonFiniteError } from './non-finite';
