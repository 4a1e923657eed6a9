export { evaluate } from './evaluate';
