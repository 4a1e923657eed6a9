export { withInsight } from './with-insight';
