/** Rows with their classes. */
interface Fit {
  /** [N, W] */
  readonly x: Float64Array;
  /** [N] */
  readonly labels: Int32Array;
  readonly width: number;
}

/**
 * Multinomial logistic regression: minimises the mean cross-entropy + ridge |weights|^2 / 2. Each step divides the
 * gradient by the bound X'X / 2 + ridge of the Hessian (Böhning 1992), so that the loss falls in every step, without a
 * step size.
 *
 * @returns [W, G]
 */
export function fitSoftmax(
  { x, labels, width }: Fit,
  { classes, ridge, iterations }: { classes: number; ridge: number; iterations: number },
): Float64Array {
  const weights = new Float64Array(width * classes);
  const rows = labels.length;
  if (rows === 0) return weights;
  const inverse = inverseOf(bound(x, rows, width, ridge), width);
  for (let step = 0; step < iterations; step++) {
    const slope = gradient({ x, labels, width }, weights, classes, ridge);
    for (let i = 0; i < width; i++) {
      for (let c = 0; c < classes; c++) {
        let change = 0;
        for (let k = 0; k < width; k++) change += inverse[i * width + k] * slope[k * classes + c];
        weights[i * classes + c] -= change;
      }
    }
  }
  return weights;
}

/** The most probable class of each row; the first one of equals. */
export function predictClasses(x: Float64Array, width: number, weights: Float64Array, classes: number): Int32Array {
  const rows = x.length / width;
  const scores = new Float64Array(classes);
  return Int32Array.from({ length: rows }, (_, row) => {
    score(x, row, width, weights, scores);
    return scores.indexOf(Math.max(...scores));
  });
}

/** [W, W] X'X / (2 N) + ridge on the diagonal. */
function bound(x: Float64Array, rows: number, width: number, ridge: number): Float64Array {
  const matrix = new Float64Array(width * width);
  for (let row = 0; row < rows; row++) {
    const at = row * width;
    for (let i = 0; i < width; i++) {
      const factor = x[at + i] / (2 * rows);
      for (let k = 0; k <= i; k++) matrix[i * width + k] += factor * x[at + k];
    }
  }
  for (let i = 0; i < width; i++) {
    matrix[i * width + i] += ridge;
    for (let k = 0; k < i; k++) matrix[k * width + i] = matrix[i * width + k];
  }
  return matrix;
}

/** [W, G] of the loss. */
function gradient({ x, labels, width }: Fit, weights: Float64Array, classes: number, ridge: number): Float64Array {
  const slope = weights.map((weight) => ridge * weight);
  const scores = new Float64Array(classes);
  const rows = labels.length;
  for (let row = 0; row < rows; row++) {
    score(x, row, width, weights, scores);
    const greatest = Math.max(...scores);
    let total = 0;
    for (let c = 0; c < classes; c++) total += scores[c] = Math.exp(scores[c] - greatest);
    for (let c = 0; c < classes; c++) {
      const error = (scores[c] / total - (labels[row] === c ? 1 : 0)) / rows;
      for (let i = 0; i < width; i++) slope[i * classes + c] += error * x[row * width + i];
    }
  }
  return slope;
}

function score(x: Float64Array, row: number, width: number, weights: Float64Array, scores: Float64Array): void {
  const classes = scores.length;
  scores.fill(0);
  for (let i = 0; i < width; i++) {
    const value = x[row * width + i];
    for (let c = 0; c < classes; c++) scores[c] += value * weights[i * classes + c];
  }
}

/** The inverse of a symmetric positive definite matrix, by Gauss-Jordan. */
function inverseOf(matrix: Float64Array, size: number): Float64Array {
  const left = matrix.slice();
  const right = new Float64Array(size * size);
  for (let i = 0; i < size; i++) right[i * size + i] = 1;
  for (let pivot = 0; pivot < size; pivot++) {
    const factor = 1 / left[pivot * size + pivot];
    for (let k = 0; k < size; k++) {
      left[pivot * size + k] *= factor;
      right[pivot * size + k] *= factor;
    }
    for (let row = 0; row < size; row++) {
      const share = left[row * size + pivot];
      if (row === pivot || share === 0) continue;
      for (let k = 0; k < size; k++) {
        left[row * size + k] -= share * left[pivot * size + k];
        right[row * size + k] -= share * right[pivot * size + k];
      }
    }
  }
  return right;
}
