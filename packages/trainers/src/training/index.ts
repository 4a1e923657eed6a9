export { type Annealed, anneal } from './annealed';
export { isLearning, type Learner, type LearnerData, type LearningAgent, type Lockstep } from './learner';
export { findNonFinite, NonFiniteError } from './non-finite';
