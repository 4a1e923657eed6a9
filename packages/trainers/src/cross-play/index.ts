export { type Exploitability, type ExploitabilityOptions, exploitability } from './exploitability';
export { type CrossPlayOptions, crossPlay, type Policy } from './play';
