export { type BeliefOptions, createBeliefs, type GoalBeliefs } from './beliefs';
export { countMemory, type GoalsPerEpisode, goalsPerEpisode } from './count-memory';
export { type GoalCounts, goalCounts, goalMemory } from './goal-counts';
export { blendPrior, discountCounts, priorOfCounts } from './inter';
export { goalLikelihoods, openGoals, updateBeliefs } from './intra';
export { fixedMemory, type GoalMemory, uniformMemory } from './memory';
export { type BeliefTracer, beliefTracer } from './trace';
