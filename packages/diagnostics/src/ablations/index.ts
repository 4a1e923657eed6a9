export { ablationGrid, type Switches } from './grid';
export { ablationCsv, ablationFigure, ablationTable } from './report';
export { ablationSummary } from './summary';
