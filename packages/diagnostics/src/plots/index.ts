export { barChart } from './bar-chart';
export { boxPlot } from './box-plot';
export { toGif, toPng, writeFigure } from './files';
export { heatMap } from './heat-map';
export { learningCurves } from './learning-curves';
export { parallelCoordinates } from './parallel-coordinates';
