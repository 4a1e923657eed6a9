export { type BeliefOptions, createBeliefs, type GoalBeliefs } from './create';
export { type DriftCounts, type DriftMemoryOptions, driftCounts, driftMemory } from './drift-counts';
export { type GoalCounts, goalCounts, goalMemory } from './goal-counts';
export { blendPrior, discountCounts, priorOfCounts } from './inter';
export { goalLikelihoods, openGoals, updateBeliefs } from './intra';
export { type GoalMemory, uniformMemory } from './memory';
export { type BeliefTrace, type BeliefTracer, beliefTracer } from './trace';
