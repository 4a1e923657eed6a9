export { type CartPoleOptions, cartPole } from './cart-pole';
export { type CatchOptions, catchGame } from './catch';
export * from './gym-stag-hunt';
