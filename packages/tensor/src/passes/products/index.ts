export { addedProducts, rowBiases, transposedOperands } from './products';
