export { simplify } from './simplify';
