export { barChart } from './bar-chart';
export { type BoxPlotOptions, boxPlot } from './box-plot';
export { type PngOptions, toPng, writeFigure } from './files';
export type { FigureOptions } from './frame';
export { type HeatMapData, heatMap } from './heat-map';
export { type LearningCurvesOptions, learningCurves } from './learning-curves';
