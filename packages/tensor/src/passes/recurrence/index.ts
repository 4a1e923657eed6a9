export { batchedProducts } from './batched-products';
export { joinedNodes } from './joined-nodes';
export { splitProducts } from './split-products';
export { stackedRows } from './stacked-rows';
export { sumsOfProducts } from './sums-of-products';
