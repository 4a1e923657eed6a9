export { limitedView } from './limited-view';
export { type OptimisticPartnersOptions, optimisticPartners } from './optimistic-partners';
export { permuteSeats } from './permute-seats';
export { timeLimit } from './time-limit';
export { withAgentId } from './with-agent-id';
export { withPreviousActions } from './with-previous-actions';
export { wrappersOf } from './wrap';
