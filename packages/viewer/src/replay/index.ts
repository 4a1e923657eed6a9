export { replayPage } from './replay-page';
