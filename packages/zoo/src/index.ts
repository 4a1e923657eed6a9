export type { ZooCard } from './card';
export { type ZooAgents, zoo, zooCard, zooCards } from './zoo';
