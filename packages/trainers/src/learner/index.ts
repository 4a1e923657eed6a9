export { isLearning, type Learner, type LearnerData, type LearningAgent } from './learner';
export { findNonFinite, NonFiniteError } from './non-finite';
