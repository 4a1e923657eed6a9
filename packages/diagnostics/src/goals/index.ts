export { type GoalTracker, type GoalTrackerOptions, goalTracker } from './goal-tracker';
