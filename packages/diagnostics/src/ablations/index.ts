export { type AblationCell, type AblationGridOptions, ablationGrid, type Switches } from './grid';
export { ablationCsv, ablationFigure, ablationTable } from './report';
export { type AblationRow, type AblationSummaryOptions, ablationSummary } from './summary';
