export { concatRows, gatherRows } from './rows';
