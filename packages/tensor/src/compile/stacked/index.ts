export { compileStacked } from './compile-stacked';
export { compileTogether, type TogetherOptions } from './compile-together';
export { mergeRows } from './merge-rows';
export { type StackedVariables, type StackLayout, stackVariables } from './stacked-variables';
