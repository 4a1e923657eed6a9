export { type GymnasiumOptions, gymnasium, type PettingZooOptions, type PythonGame, pettingZoo } from './games';
