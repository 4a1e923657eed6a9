export { type OvercookedOptions, overcooked } from './overcooked';
