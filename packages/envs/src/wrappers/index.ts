export { limitedView } from './limited-view';
export { permuteSeats } from './permute-seats';
export { timeLimit } from './time-limit';
export { withAgentId } from './with-agent-id';
export { withPreviousActions } from './with-previous-actions';
