export { type ReplayPageOptions, replayPage } from './replay-page';
