export { compileStacked } from './compile-stacked';
export { compileTogether } from './compile-together';
export { mergeRows } from './merge-rows';
export { type StackedVariables, stackVariables } from './stacked-variables';
