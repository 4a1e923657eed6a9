export { type SocialInfluenceAgent, socialInfluenceAgent } from './agent';
export { actionInfluence } from './algorithm';
export type { SocialInfluenceLearner } from './learner';
export type { SocialInfluenceOptions } from './options';
