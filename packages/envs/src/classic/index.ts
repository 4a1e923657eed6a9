export { cartPole } from './cart-pole';
export { catchGame } from './catch';
export * from './gym-stag-hunt';
export { pendulum } from './pendulum';
