export { batchedProducts } from './batched-products';
export { batchedSteps } from './batched-steps';
export { joinedNodes } from './joined-nodes';
export { knownFactors } from './known-factors';
export { splitProducts } from './split-products';
export { stackedRows } from './stacked-rows';
export { sumsOfPads } from './sums-of-pads';
export { sumsOfProducts } from './sums-of-products';
